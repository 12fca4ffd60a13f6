"""What the words in names and values of columns say, in several languages."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._columns import SCREEN_ROWS, is_number, words
from fairdash.datasets._roles import Cut

# how strongly a word of a name says "outcome"; a star stands for any letters
OUTCOME_WORDS = {
    10.0: """
        target label outcome* decision* deny denied denial approv* accepted admitted
        reject* refus* hire hired recid* rearrest* reoffend* surviv* died dead death
        deceased default* churn* attrition readmi* relapse* fraud* callback* lfp inlf
        particip* convict* vot* exited guilty ziel* cible objetivo survecu sobrevi*
        fallecid* verstorben* bewilligt* abgelehnt* aprobad* rechazad* accorde*""",
    9.5: "*gpa",
    9.0: """
        wage* *wage *wages salar* earning* lohn gehalt salaire* salario* takeup lbw
        lowbirth* lowbwt pass admit accept grant granted hiring promot* dropout
        penalty sentence* releas* arrest arrested improved success* call ahe alive
        fatal* killed recur* incarcerat* turnout bankrupt* foreclos*""",
    8.0: """
        earn graduat* admiss* passed fail failed result results resultat* ergebnis y
        score scores punkte bar mortal* respon* ofp obes* immun* retained retention
        bought purchas* subscri* click* conver* stroke placed placement *visits
        docvis doctor* physicianvis* hospitali* rehospital* admissions infect*
        sepsis pneumonia metasta* toxicity adverse* posttest *post spend* spent
        charges claim claims attain* serious* baddebt badloan bad pincp pubcov esr
        expire* diagnos* lnw lwg
        lnwg remission recover* cured proficien* uninsured contracept* complications""",
    7.0: """
        approval award* won win re eval affair* article* absen* abuse* called quit
        resigned prestige note volunteer* regist* owner* complain* premie preterm
        prematur* low infect* dropped support favor* oppos* trump obama cheat*
        cancel* renew* jobless homeowner headache* migraine* nausea vomit* fever*
        bleed* fight* bull*ed bullying suspended suspension expelled truan* skipped
        satisf* wellbeing thermometer* donor pledge* tips tipped drugexp medexp
        weightgain gained""",
    6.0: """
        happy vhappy insured insurance grad duration durat *mathach achiev*
        publication* work worked job abortion retain* overdrawn delinq* chargeoff
        goodbad use used user injur* diabet* disease* event evnt* narr* price*
        mathlevel play choice action leave leaving deposit frisk* condition g3
        answer* depress* suicid* asthma wheez* anemia cesarean covered coverage
        citation stopped repay* realrinc donat* divorce*""",
    5.0: """
        class status credit employed employment rating* grade grades bwt bwght
        *birthweight birthwt balance cost costs expend* los pension eligib* unem
        unemp* employ cens censor* delta exam exams normexam test tmath* math *math
        sleep cigs cig* drink drinker drinking pharvis hospvis visit* days yield sat
        act *pay loanstatus paid repaid risk hosp hospitalized hospitalised tip med
        enrol* sav saving* agree* trust* attitude* opinion* marijuana cough pain
        severity bonus""",
    3.0: """
        income einkommen revenu* ingreso* renda reddito inkomen search* level hours
        weeks smok* spell time read* stop ui hi like trade return* buy attend*""",
}
# ... and against it: descriptions of the case, of its past and of how it was recorded
NO_OUTCOME_WORDS = {
    6.0: """
        treat* trt* arm rx random* group grp cohort fold split sample weight weights
        wt wght pweight region* state county city town province district zip postcode
        msa smsa urban rural farm south* north* east* west* midwest* nrth* ne nc
        country nation* centre center site street suburb quarter qrt land ort plz
        ville *year year yr month day date datum jahr annee ano fips id *id idnum nr
        case subject patient participant student pupil""",
    5.0: """
        age ages mage fage agea agep husage momage agesq alter edad idade eta
        leeftijd educ* school* edu schooling degree bildung exper* tenure experience
        married marital maritl mar marr kids child* famsize household hh hhsize
        depend* mother* father* mom* dad* moth* fath* *moth husb* wife spouse meduc
        feduc sibs siblings race ethn* sex gender hsize name firstname lastname
        occupation occup* industry occ ind""",
    4.0: """
        prior* prev* pre pretest prewage lag* base baseline init* initial past last
        before earlier hsgpa parent* expected predicted *sq squared type plan union
        height ht bmi length len dose service""",
    2.0: "n num number count total sum avg mean max min self own other",
}
# which attribute a word names, with how strongly
SENSITIVE_WORDS: dict[str, dict[float, str]] = {
    "ethnicity": {
        11.0: """
            race rac1p ethnicity ethnic* eth ethn racegrp racef rasse raza raca ethnie
            herkunft origine""",
        10.5: "minority minorit* minderheit nonwhite nwhite white_black",
        9.7: """
            black white hisp hispan* hispanic latin* afam african* afro* cauc
            caucasian asian blck blk wht whit* black* nonblack aboriginal indigenous
            native_american colour othrace* otherrace *white *blck *wht* *hisp
            mwhte fwhte whitemom""",
        8.0: """
            foreign* auslaender* etranger* extranjer* immigr* migrant* migration*
            nationality nationalit* staatsangehoerigkeit nacionalidad citizen* foreigner
            bornhere brncntr brnnorge nativeborn nativ* *born""",
        4.0: "color origin language mother_tongue sprache lang caste tribe",
    },
    "sex": {
        10.0: "sex gender geschlecht sexe genre sexo genero geslacht kjonn kon sesso",
        9.8: """
            female male woman women fem fml man men weiblich maennlich femme homme mujer
            hombre mulher homem feminino masculino vrouw *female *male""",
    },
    "religion": {7.0: "relig* religion konfession denomin* catholic muslim protestant"},
    "disability": {7.0: "disab* handicap* behinder* discapac* lame"},
    "age": {
        6.5: "senior* elderly old* agegroup* agecat* agegrp* age_cat age_group",
        5.0: "age ages agea agep alter edad idade eta leeftijd",
    },
    "marital status": {
        5.0: "marital maritl married marr mar maritalstatus familienstand single"
    },
    "class": {2.0: "class ses pclass social* poverty urban rural region"},
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


def name_words(name: str) -> list[str]:
    """Return the words of a column name and, last, the name as one word.

    Lower case and without accents; single letters and digits are no words of their own
    unless they are the name.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    whole = re.sub(r"[^a-z0-9]", "", plain.lower())
    parts = [word for word in words(plain) if len(word) > 1 and not word.isdigit()]
    return [*sorted(parts), whole]


def strength(name: str, table: dict[float, str]) -> float:
    """Return how strongly the words of a name say what ``table`` lists; 0: not."""
    found = name_words(name)
    return max(
        (
            weight
            for weight, listed in table.items()
            if any(_pattern(listed).fullmatch(word) for word in found)
        ),
        default=0.0,
    )


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
    """Return which sensitive attribute a column holds, and how strongly that is said.

    Names count, and values such as Male and Female; a name that speaks of another
    person or of an area counts less.
    """
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
