"""What the words in names and values of columns say, in several languages."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._columns import SCREEN_ROWS, is_number, words
from fairdash.datasets._roles import Cut

# how strongly a word of a name says "outcome"; a star stands for any letters, = for
# a word that is the whole name
OUTCOME_WORDS = {
    10.0: """
        impaye actiontaken target label outcome* decision* deny denied denial
        approv* accepted admitted reject* refus* hire hired recid* rearrest*
        reoffend* reincarcerat* surviv* died dead death deceased *mortality default*
        churn* attrition readmi* relapse* fraud* callback* noshow lfp inlf particip*
        convict* vot* exited guilty verdict evict* turnover shortlist* dropout ziel*
        zielvariable cible objetivo survecu sobrevi* fallecid* verstorben*
        bewilligt* abgelehnt* aprobad* rechazad* accorde* refuse* genehmigt* esito
        decisao resultado obito kredit* nichtausfall ausfall* insolven* gekuendigt
        kuendigung aceptad* contratad* impago* incumpl* moros* embauche* licencie*
        defaut abandon* desercion reprob* aprovad* inadimpl* sortie
        dependentvariable yvar *fraud betrug zahlungsausf* zahlungsverz* zusage
        absage klasse etikett etiqueta salida chargedoff notfullypaid fullypaid
        paidoff paidback loanpaidback loanrepaid firstpf""",
    9.5: "*gpa",
    9.0: """
        repaid expuls* reingres* angenommen zugelassen denegad* concedid*
        seleccionad* recrute* octroy* entlassen licenziat* promosso bocciato
        respinto approvato concesso basepay basesalary termd wage* *wage *wages
        salar* earning* *earnings lohn gehalt salaire* salario* stipendio salaris
        takeup lbw lowbirth* lowbwt pass accept grant granted hiring promot* penalty
        sentence* releas* arrest arrested improve* success* =call ahe alive fatal*
        killed recur* incarcerat* turnout bankrupt* foreclos* *delinq* *dlq* baddebt
        badloan bad malignan* *dead *death laidoff layoff fired terminat* detained
        detention jailed parole* bail goodbad creditworthy deny* nonpay* chargeoff*
        writeoff loanstatus depvar ytrue =left =output compensation remuneration
        payrate hourlypay hourlyrate deathpen* *deathpenalty execut* readm*
        reconvict* reincarc* revocat* revoked nopay* latepay* repossess* reemploy*
        rehired deport* expelled cured stillbirth miscarriage *recid *mort morta*
        fev fev1 nonperform* npl creditability goodcredit badcredit prequalif*
        joboffer custody imprison* acquit* indict* prosecut* verurteil* condamn*
        condena* verhaft* arrestad* failuretoappear fta sueldo verdienst* paga
        retribuzione eingestellt befoerder* promu ascendid* selected gestorben
        sterbe* deces decede muerte muerto fallecio mortalidad vitalstatus
        heartattack *vote leaver leavers tenured daysinhospital hospdead""",
    8.0: """
        offer offered invited eingeladen earn graduat* admiss* passed fail failed
        failure result results resultat* ergebnis y =score =scores =status =credit
        =risk punkte bar respons* responded responder ofp obes* immun* retained
        retention bought purchas* subscri* click* stroke placed placement *visits
        *visit docvis doctor* physicianvis* hospitali* rehospital* admissions
        infect* *nfect* sepsis pneumonia metasta* toxicity adverse* posttest *post
        spend* spent charges claim claims attain* serious* pincp pubcov esr expire*
        lnw lwg lnwg remission recover* cured proficien* uninsured contracept*
        complications chd cvd cad infarct* *cancer bwt bwght *birthweight birthwt
        *bwt *bweight dementia alzheimer* vaccin* adheren* complian* coverage
        violat* reoffense searched frisked cited contraband preterm *stillb*
        miscarr* overweight donat* donor sold cardio* testscr* testscore* *testscore
        dfs pfs efs osstatus gvhd mmse cdr updrs adas* phq* gad7 bdi cesd madrs hamd
        panss apgar quit* attempted suicid* hiv* sti parasit* graduated enrolled*
        donate* clicked responder* converted guiltverdict sentenc* arrestee* shot
        shooting useofforce forceused deathrate *lossevent asd autism ptsd *addict*
        overdose* abuser *abused victimi* admit elected reelected progress
        progressed progression uptake bestanden durchgefallen abgebroch* reussi*
        echec finalgrade finalscore finalexam unsubscri* storno* resiliation
        gewaehlt wahlbeteil* claimed losscost lossratio moved lnearn* logearn*
        *claims *claim exit funded classification nobeyesdad transported zfya zgpa
        delirium preecl* eclampsia sga vlbw diagnosis hsgrad""",
    7.0: """
        transplanted completed removed deposit absent absenteeism *stat =vital
        approval award* won win re eval *affairs article* abuse* called quit
        resigned prestige note regist* complain* premie prematur* dropped support
        favor* trump obama cheat* cancel* renew* jobless donor pledge* tips tipped
        drugexp medexp weightgain gained suspended suspension expelled truan*
        skipped satisf* wellbeing happiness thermometer* disease heartdisease
        *cancer* *tumor fracture accident* crash* risk positive homeless* medal
        testresult final attack turned noncompl* winner performance apprais*
        interviewed benefit* welfare rtime reactiontime recall recalled error*
        misclass* bullied harass* anxiety* lonel* esteem* distress* burnout*
        goodhealth badhealth srh selfhealth ticket* stopoutcome fever goals medals
        wins finished finish finishtime finishing =class opposed opposition
        repayment charged dismiss* disposition warned probation interview drafted
        inducted halloffame allstar resp malnutrition malnourish* stunted stunting
        underweight intubat* ventilat* icuadmission frail* qol qualityoflife krank*
        malad* enferm* lengthofstay reoperation amputat* marks nota notas noten
        moyenne calificac* promedio redeem* optin optout achat compra gekauft kauf
        schaden* sinistre* siniestro* zufrieden* ballot reorder* arrests chosen
        published dui dwi drunk* asylum mig jwmnp biopsy ispatient jobsat*
        careersat* rfs ttp ttr nicu breastfe* bfeed* protested contributed =low =rt""",
    6.0: """
        arrears =work =worked happy vhappy insured insurance grad durat score scores
        =event =delta *mathach achiev* ach publication* abortion retain* overdrawn
        injur* diabet* disease* event evnt* narr* price* =balance mathlevel play
        choice leave leaving frisk* condition g3 answer* depress* suicid* asthma
        anemia cesarean covered citation stopped repay* realrinc diagnos* headache*
        migraine* nausea vomit* fever* bleed* fight* bull*ed bullying conver*
        amountpaid tested screened hypertensi* seropos* glaucoma arthrit* copd ckd
        angina hepatit* malaria tubercul* seizure* problem* therm productiv*
        knowledge *knowledge attitud* accuracy correct* wtp willing* unmet barrier*
        hesitan* aggress* violen* compla* adopted remit* save saved retired retire
        =action =case plea bond icu falls fell adl iadl cognit* conc concentration
        moca hads eq5d sf36 pcs mcs vas nihss rankin barthel gcs ppvt piat wisc
        toefl ielts pisa cd4 viral viralload stay stayed recipient visa funding
        citations seatbelt speeding segment* vocab* dec bronch* apnea hypogly*
        foodstamp*""",
    5.0: """
        volunteer* preapprov* status credit employed employment grades balance cost
        costs expend* *expenditure los pension eligib* employ cens censor* censrec
        delta exam exams normexam tmath* math *math sleep cigs cigarettes drink
        drinker drinking pharvis hospvis yield sat act *pay paid hosp hospitalized
        hospitalised tip med enrol* sav saving* agree* trust* attitude* opinion*
        marijuana cough pain *pain wheez* severity bonus symptom* gestation value
        *prestige premium utiliz* consum* tobacco quality disorder* interestrate apr
        ratespread expense* consumption fine fines duration active inactive loan
        loans *score medicaid homeownership ceb""",
    4.0: """
        borrowed literate literacy* absence* days test case owner* homeowner rating*
        use used user wealth networth nettfa assets""",
    3.0: """
        revenu* ingreso* renda reddito inkomen search* level hours weeks spell read*
        write writing science stop ui hi like trade return* buy attend* category
        =sleep kids speed medical unemploy* unem unemp* arbeitslos* chomage desempl*""",
    2.0: "job class time income smok* smoker grade stage",
}
# ... and against it: where, when and how a case was recorded
CONTEXT_WORDS = """
    treat* trt* arm rx random* group grp cohort fold split sample weight weights wt
    wght pweight region* state county city town province district zip postcode msa
    smsa urban rural farm south* north* east* west* midwest* nrth* ne nc country
    nation* citizenship centre center site street suburb quarter qrt land ort plz
    ville *year *yr year yr month day date datum jahr annee ano fips id *id idnum nr
    subject patient participant student pupil stratum strata stratif* pooled dataset
    source referral phone email address query measured respondent cond datetime dt"""
# ... and what describes the case, its past above all
DESCRIPTION_WORDS = """
    abschluss =base file self title ever age ages mage fage agea agep husage momage
    agesq alter edad idade eta leeftijd educ* *educ school* edu schooling degree
    bildung exper* tenure experience married marital maritl mar marr *marr kids
    child* *children famsize household hh hhsize depend* mother* father* mom* dad*
    moth* fath* *moth husb* wife spouse meduc feduc sibs siblings race ethn* sex
    gender hsize name firstname lastname occupation occup* industry occ ind family
    parit* gene genotype marker* wrkstat workstat marstat empstat prior* prev* pre
    pretest prewage lag* baseline init* initial past last before earlier hsgpa
    parent* expected predicted *sq squared type plan union height ht bmi length len
    dose service pressure cholesterol chol glucose insulin sugar bp sbp dbp ldl hdl
    heartrate pulse temperature ecg stress diet exercise purpose property installment
    installments amount limit lifestyle iq medication* meds therapy history hist
    familyhistory hx prevalent parentage hhage headage firstage entryage startage
    motherage fatherage lrscale ideology ideol* partyid pid partisan* polviews
    liberal conservat* church* religios* newspaper* media internet house* housing
    ownhome car cars vehicle* waist hip hips skin skinfold npreg pregnancies ped
    pedigree hba1c glu creatinine creat albumin bili* bilirubin platelet* hemoglobin
    hgb wbc rbc sodium potassium alk* ast alt alp ejection* node* histol* tumorsize
    differentiat* pgr her2 estrogen* surgery comorb* charlson* asa residence commut*
    overtime manager supervisor hobby hobbies born birthorder caffeine coffee
    alcohol* birthyear birthyr yob nadults nkids urbanicity mstat hhtype famtype
    famstat wifeage creditcard* securities account accounts inquir* collateral
    guarantor* cosign* dti term intent ownership cards creditscore fico beruf*
    branche kinder wohn* ausbildung* erfahrung* metier profession* enfants logement
    anciennete ocupacion hijos vivienda antiguedad"""
# which attribute a word names, with how strongly
SENSITIVE_WORDS: dict[str, dict[float, str]] = {
    "ethnicity": {
        11.0: """
            race rac1p ethnicity ethnic* eth ethn racegrp racef rasse raza raca ethnie
            herkunft origine mrace frace momrace dadrace racecat* racegroup raceth*""",
        10.5: "minority minorit* minrty minderheit nonwhite nwhite white_black",
        9.7: """
            black white hisp hispan* hispanic latin* afam african* afro* cauc
            caucasian asian blck blk wht whit* black* nonblack aboriginal indig*
            native_american colour othrace* otherrace *white *blck *wht* *hisp
            mwhte fwhte whitemom""",
        8.0: """
            foreign* auslaender* etranger* extranjer* immigr* migrant* migration*
            nationality nationalit* staatsangehoerigkeit nacionalidad citizen* foreigner
            bornhere brncntr brnnorge nativeborn nativ* foreignborn""",
        4.0: "color origin language mother_tongue sprache lang caste tribe",
    },
    "sex": {
        10.0: "sex gender geschlecht sexe genre sexo genero geslacht kjonn kon sesso",
        9.8: """
            female male woman women fem fml man men weiblich maennlich femme homme mujer
            hombre mulher homem feminino masculino vrouw *female *male""",
    },
    "religion": {
        7.0: """
            relig* konfession denomin* catholic muslim protestant christian* jewish
            hindu""",
    },
    "sexual orientation": {7.0: "gay lesbian lgbt* orientation"},
    "disability": {7.0: "disab* handicap* behinder* discapac* lame"},
    "age": {
        6.5: """
            senior* elderly old older oldest aged agegr* agecl* agegp agecat* ageb*
            agerange age_cat age_group""",
        5.0: "age ages agea agep agew agey alter edad idade eta leeftijd",
    },
    "marital status": {
        5.0: "marital maritl married marr mar maritalstatus familienstand single"
    },
    "a group": {9.0: "sensitive* protected* sens"},
    "class": {
        2.0: "class ses pclass social* socio* firstgen* poverty urban rural region"
    },
}
NOT_OF_THE_PERSON = """
    mother* father* mom dad husb* wife spouse parent* frac pct perc percent share rate
    median mean avg pop population prop density per index first second other victim
    prov* risk id code co coapplicant baby partner teacher mentor prof officer"""
SEXES = (
    {"male", "female"}, {"man", "woman"}, {"men", "women"},
    {"maennlich", "weiblich"}, {"homme", "femme"}, {"hombre", "mujer"},
    {"boy", "girl"}, {"boys", "girls"},
)  # fmt: skip
ETHNICITIES = {
    "white", "black", "asian", "hispanic", "caucasian", "african-american", "latino",
    "cauc", "afam", "non-white", "nonwhite", "native american", "not black",
    "african american", "indigenous", "aboriginal",
}  # fmt: skip
BY_VALUE = {"ethnicity": 9.9, "sex": 9.6}
MOST_VALUES, MOST_LOOKED_AT = 20, 50
CLEAR = 9.5  # how strongly a column must say which attribute it holds

Meaning = Literal["favourable", "unfavourable"] | None
# a word of the name of the outcome: what yes is called, and what it means
OUTCOMES: dict[str, tuple[str, Meaning]] = {
    "recid*": ("recidivated", "unfavourable"),
    "default*": ("defaulted", "unfavourable"),
    "readmi*": ("readmitted", "unfavourable"),
    "fraud*": ("fraud", "unfavourable"),
    "churn*": ("left", "unfavourable"),
    "attrition": ("left", "unfavourable"),
    "dropout": ("dropped out", "unfavourable"),
    "reject*": ("rejected", "unfavourable"),
    "deny": ("denied", "unfavourable"),
    "denied": ("denied", "unfavourable"),
    "arrest*": ("arrested", "unfavourable"),
    "relapse*": ("relapsed", "unfavourable"),
    "died": ("died", "unfavourable"),
    "dead": ("died", "unfavourable"),
    "death": ("died", "unfavourable"),
    "crime": ("crime", "unfavourable"),
    "abuse*": ("abuse", "unfavourable"),
    "approv*": ("approved", "favourable"),
    "accept*": ("accepted", "favourable"),
    "admit*": ("admitted", "favourable"),
    "hire*": ("hired", "favourable"),
    "grant*": ("granted", "favourable"),
    "callback*": ("called back", "favourable"),
    "releas*": ("released", "favourable"),
    "bar": ("passed the bar", "favourable"),
    "pass": ("passed", "favourable"),
    "passed": ("passed", "favourable"),
    "surviv*": ("survived", "favourable"),
    "improved": ("improved", "favourable"),
    "income": ("high income", "favourable"),
    "salar*": ("high salary", "favourable"),
    "*wage*": ("high wage", "favourable"),
    "earn*": ("high earnings", "favourable"),
    "insur*": ("insured", "favourable"),
    "credit": ("good credit", "favourable"),
}
PER_UNIT = re.compile(r"(?i)[ _.-]+per[ _.-]+(week|year|month|day|hour|capita)\b")
YES = {"1", "yes", "y", "true", "p"}
NO = {"0", "no", "n", "false", "f"}
GOOD = {"approved", "accepted", "admitted", "hired", "granted", "good", "pass"}
GOOD |= {"passed", ">50k", ">50k.", "positive"}
BAD = {"bad", "rejected", "denied", "refused", "failed", "fail", "<=50k", "<=50k."}
_OPPOSITE: dict[Meaning, Meaning] = {
    "favourable": "unfavourable",
    "unfavourable": "favourable",
    None: None,
}


@lru_cache(maxsize=10_000)
def name_words(name: str) -> list[str]:
    """Return the words of a column name and, last, the name as one word.

    Lower case, without accents and without a unit ("per week"); single letters and
    digits are no words of their own unless they are the name. A second time, as the
    whole, it follows =.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    plain = PER_UNIT.sub("", plain)
    whole = re.sub(r"[^a-z0-9]", "", plain.lower())
    parts = [word for word in words(plain) if len(word) > 1 and not word.isdigit()]
    return [*sorted(parts), whole, f"={whole}"]


def strength(name: str, table: dict[float, str]) -> float:
    """Return how strongly the words of a name say what ``table`` lists; 0: not."""
    found = name_words(name)
    for weight in sorted(table, reverse=True):
        if any(map(_pattern(table[weight]).fullmatch, found)):
            return weight
    return 0.0


def says(name: str, listed: str) -> bool:
    """Tell whether a word of a name is among those listed."""
    return strength(name, {1.0: listed}) > 0


@cache
def _pattern(listed: str) -> re.Pattern[str]:
    parts = [re.escape(word).replace(r"\*", "[a-z0-9]*") for word in listed.split()]
    return re.compile("|".join(parts))


def concept(column: "pd.Series[Any]") -> str | None:
    """Return "ethnicity" or "sex" if the name or else the values of a column say so."""
    known, strongly = sensitive_strength(column)
    return known if known in ("ethnicity", "sex") and strongly >= CLEAR else None


def sensitive_strength(column: "pd.Series[Any]") -> tuple[str | None, float]:
    """Return which sensitive attribute a column holds, and how strongly it says so."""
    name = str(column.name)
    known, most = None, 0.0
    for attribute, table in SENSITIVE_WORDS.items():
        weight = strength(name, table)
        if weight > most:
            known, most = attribute, weight
    by_value = None if is_number(column) else _values_say(column)
    if by_value is not None and most < BY_VALUE[by_value]:
        known, most = by_value, BY_VALUE[by_value]
    elif by_value == known == "ethnicity":
        most += 1  # words are read more easily than codes
    if most and says(name, NOT_OF_THE_PERSON):
        most -= 3
    return known, most


def _values_say(column: "pd.Series[Any]") -> str | None:
    values = {value_label(v).strip().lower() for v in _first_values(column)}
    if values in SEXES:
        return "sex"
    if len(values) <= MOST_VALUES and len(values & ETHNICITIES) >= 2:
        return "ethnicity"
    return None


def _first_values(column: "pd.Series[Any]") -> Sequence[Any]:
    """Return the first different values, as many as a decision needs."""
    for part in (column.head(SCREEN_ROWS), column):
        values = part.dropna().unique()
        if len(values) >= MOST_LOOKED_AT:
            break
    return list(values[:MOST_LOOKED_AT])


def guess_meaning(
    target: str, positive: str | tuple[str, ...] | Cut
) -> tuple[str, Meaning]:
    """Guess the outcome 1 in words and whether it is favourable to the person.

    The words are such as "recidivated", "" where neither the name nor the value says.
    """
    known = [OUTCOMES[listed] for listed in OUTCOMES if says(target, listed)]
    name, meaning = known[0] if known else ("", None)
    if isinstance(positive, Cut):
        below = positive.sign in ("<", "<=")
        return "", _OPPOSITE[meaning] if below else meaning
    values = (positive,) if isinstance(positive, str) else positive
    plain = {value.strip().lower() for value in values}
    if plain <= YES:
        return name, meaning
    if plain <= NO:
        return f"not {name}" if name else "", _OPPOSITE[meaning]
    said = " or ".join(value.strip() for value in values)
    if plain <= GOOD:
        return said, "favourable"
    if plain <= BAD:
        return said, "unfavourable"
    return said, None
