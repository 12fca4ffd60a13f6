// Ramps over histograms. At rest they are those that the server solved; while a slider
// moves they are interpolated from tables of starts by width and rate.
const SLIDERS = {
  gamma: { label: "Ramp width (γ)", digits: 2 },
  rate: { label: "Target rate (ρ)", digits: 3 },
  tolerance: { label: "Tolerance (ε)", digits: 3 },
}
const PANEL = 128, GAP = 34, LEFT = 38, RIGHT = 30
const SCORES = [-1, 1] // ends of the axis
const PLAY = { steps: 60, ms: 90, calmSteps: 16, calmMs: 600 } // calm: reduced motion

// the values of a table linear between its rising places
function between(places, x, value) {
  const last = places.length - 1
  let low = 0
  while (low < last - 1 && places[low + 1] <= x) low++
  const share = (x - places[low]) / (places[low + 1] - places[low])
  return value(low) + Math.min(Math.max(share, 0), 1) * (value(low + 1) - value(low))
}

// start of the ramp and share decided 1 while a slider moves
function preview(group, { gamma, rate, tolerance }) {
  const atRest = between(group.gammas, gamma, (i) => group.at_rest[i])
  const low = Math.max(rate - tolerance / 2, 0), high = Math.min(rate + tolerance / 2, 1)
  if (atRest >= low && atRest <= high) return [0, atRest]
  const target = atRest > high ? high : low
  const middle = between(group.gammas, gamma, (i) =>
    between(group.rates, target, (k) => group.middles[i][k]))
  return [middle - gamma / 2, target]
}

const rampAt = (t, gamma) => (score) => Math.min(Math.max((score - t) / gamma, 0), 1)
const binWidth = (group) => (SCORES[1] - SCORES[0]) / group.histogram.length

// mean probability of deciding 1 in each bin
function chances(group, h) {
  const wide = binWidth(group)
  return group.histogram.map((_, i) => {
    const left = SCORES[0] + i * wide
    return [0.1, 0.3, 0.5, 0.7, 0.9].reduce((sum, f) => sum + h(left + f * wide), 0) / 5
  })
}

// share of a group's people whose score lies on the ramp
function onRamp(group, t, gamma) {
  const wide = binWidth(group)
  return group.histogram.reduce((sum, share, i) => {
    const left = SCORES[0] + i * wide
    const covered = Math.min(left + wide, t + gamma) - Math.max(left, t)
    return sum + share * Math.min(Math.max(covered / wide, 0), 1)
  }, 0)
}

// what the ramps do on the rows they are learned on, from the bins
function previewed(data, ramps, gamma) {
  const { groups } = data, people = groups.reduce((sum, { n }) => sum + n, 0)
  const randomised = groups.map((group, k) => onRamp(group, ramps[k][0], gamma))
  if (data.accuracy_before === null) return { randomised, accuracy_change: null }
  const right = groups.reduce((sum, group, k) => {
    const chance = chances(group, rampAt(ramps[k][0], gamma))
    return sum + group.n * group.histogram.reduce((all, share, i) => {
      const positive = group.positives[i]
      return all + positive * chance[i] + (share - positive) * (1 - chance[i])
    }, 0)
  }, 0)
  return { randomised, accuracy_change: right / people - data.accuracy_before }
}

// who is decided by chance, and what that costs
function effectWords(data, { randomised, accuracy_change: change }) {
  const people = data.groups.reduce((sum, { n }) => sum + n, 0)
  const drawn = data.groups.reduce((sum, { n }, k) => sum + n * randomised[k], 0)
  const who = `By chance: ${whole(drawn)} of ${whole(people)} people, ${percent(drawn / people)}.`
  if (change === null) return who
  const points = `${change < 0 ? "−" : "+"}${Math.abs(100 * change).toFixed(1)}`
  return `${who}\nAccuracy: ${points} points against no ramp`
}

const whole = (n) => Math.round(n).toLocaleString("en-US")
const percent = (share) => `${(100 * share).toFixed(1)}%`
const signed = (x) => (x < -0.005 ? "−" : "+") + Math.abs(x).toFixed(2)
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

// scores often pile up at an end: such bars are cut, else the others would vanish
function tallest(groups) {
  const bars = groups.flatMap((group) => group.histogram).sort((a, b) => b - a)
  const usual = bars[2 * groups.length] ?? 0
  return Math.max(bars[0] > 3 * usual ? 1.5 * usual : bars[0], 0.01)
}

function panel(group, colour, [t, share], randomised, gamma, top, width, peak) {
  const inner = width - LEFT - RIGHT, base = top + PANEL
  const x = (score) => LEFT + ((Math.min(Math.max(score, -1), 1) + 1) / 2) * inner
  const n = group.histogram.length, w = inner / n
  const bar = (share, i) => {
    const tall = Math.min(share / peak, 1) * (PANEL - 6)
    return `M${(LEFT + i * w + 0.5).toFixed(1)},${base}v${(-tall).toFixed(1)}h${(w - 1).toFixed(1)}V${base}z`
  }
  const h = rampAt(t, gamma), chance = chances(group, h)
  const all = group.histogram.map(bar).join("")
  const positive = group.histogram.map((share, i) => bar(share * chance[i], i)).join("")
  const y = (p) => base - p * (PANEL - 6)
  const corners = [-1, t, t + gamma, 1].map((s) => Math.min(Math.max(s, -1), 1))
  const line = corners.map((s) => `${x(s).toFixed(1)},${y(h(s)).toFixed(1)}`).join(" ")
  const words = `starts at ${signed(t)}, ${percent(share)} decided 1, ${percent(randomised)} by chance`
  const [from, to] = [x(t), x(t + gamma)]
  return `
    <text x="${LEFT}" y="${top - 8}"><tspan style="fill:${colour}">■</tspan> <tspan font-weight="600">${escaped(group.name)}</tspan>
      <tspan dx="6" class="faint">${words}</tspan></text>
    <rect class="drawn" x="${from.toFixed(1)}" width="${(to - from).toFixed(1)}" y="${top + 6}" height="${PANEL - 6}"/>
    <line x1="${LEFT}" x2="${width - RIGHT}" y1="${base}" y2="${base}" stroke="currentColor" stroke-opacity=".3"/>
    <g pointer-events="none">
      <path d="${all}" fill="${colour}" fill-opacity=".28"/><path d="${positive}" fill="${colour}"/>
      <polyline points="${line}" fill="none" stroke="currentColor" stroke-width="2"/>
    </g>
    <text class="faint" x="${LEFT - 6}" y="${top + 12}" text-anchor="end">${Math.max(...group.histogram) > peak ? "≥" : ""}${Math.round(100 * peak)}%</text>
    <text class="faint" x="${LEFT - 6}" y="${base}" text-anchor="end">0</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${top + 12}">1</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${base}">0</text>`
}

function picture(data, setting, solved, width, scale) {
  const peak = tallest(data.groups)
  const ramps = solved
    ? data.solved
    : data.groups.map((group) => preview(group, setting))
  const effect = solved ? data.effect : previewed(data, ramps, setting.gamma)
  const panels = data.groups.map((group, i) => panel(group, data.colours[i], ramps[i],
    effect.randomised[i], setting.gamma, 24 + i * (PANEL + GAP), width, peak))
  const bottom = 24 + data.groups.length * (PANEL + GAP) - GAP
  const inner = width - LEFT - RIGHT
  const ticks = [-1, -0.5, 0, 0.5, 1].map((v) =>
    `<text class="faint" x="${LEFT + ((v + 1) / 2) * inner}" y="${bottom + 16}" text-anchor="middle">${String(v).replace("-", "−")}</text>`)
  const said = data.groups.map((group, i) => `${group.name} ${percent(ramps[i][1])}`)
  const svg = `<svg viewBox="0 0 ${width} ${bottom + 38}" height="${(bottom + 38) * scale}" role="img"
    aria-label="Scores by group with ramps. Decided 1: ${escaped(said.join(", "))}">${panels.join("")}${ticks.join("")}
    <text class="faint" x="${LEFT + inner / 2}" y="${bottom + 33}" text-anchor="middle">score 2p − 1</text></svg>`
  return { svg, said: `Decided 1: ${said.join(", ")}.`, words: effectWords(data, effect), ramps, effect }
}

// what stands under the pointer: the group whose histogram it is, and the score
function under(data, { ramps, effect }, gamma, svg, event) {
  const box = svg.getBoundingClientRect(), { width } = svg.viewBox.baseVal
  const scale = box.width / width
  const k = Math.floor(((event.clientY - box.top) / scale - 8) / (PANEL + GAP))
  const across = ((event.clientX - box.left) / scale - LEFT) / (width - LEFT - RIGHT)
  if (!data.groups[k] || across < 0 || across > 1) return null
  const { name, n } = data.groups[k], share = effect.randomised[k]
  const score = SCORES[0] + across * (SCORES[1] - SCORES[0])
  const h = rampAt(ramps[k][0], gamma)(score)
  const fate = h === 0 ? "decided 0" : h === 1 ? "decided 1" : `1 by chance of ${percent(h)}`
  return [
    name,
    `${whole(n * share)} of ${whole(n)} people decided by chance (${percent(share)})`,
    `score ${signed(score)}: ${fate}`,
  ]
}

const mounted = new WeakMap()

function mount(root, ranges) {
  root.innerHTML = `<div class="sliders"></div><div class="picture"></div>
    <div class="tip" aria-hidden="true"></div><p class="said" aria-live="polite"></p>`
  const box = root.querySelector(".sliders")
  const state = { inputs: {}, setting: {}, frame: 0, timer: 0 }
  for (const [name, { label }] of Object.entries(SLIDERS)) {
    const slot = document.createElement("div"), row = document.createElement("label")
    const output = document.createElement("span"), input = document.createElement("input")
    const [min, max, step] = ranges[name]
    Object.assign(input, { type: "range", min, max, step })
    input.setAttribute("aria-label", label)
    output.setAttribute("aria-hidden", "true") // the slider says it itself
    row.append(label, output, input)
    slot.className = "slot"
    slot.append(row)
    box.append(slot)
    if (name === "gamma") state.play = playButton(slot)
    state.inputs[name] = { input, output, sent: [], told: null }
  }
  const effect = document.createElement("p")
  Object.assign(effect, { className: "effect", title: "Of the rows that thresholds are learned on" })
  box.append(effect)
  return state
}

function playButton(slot) {
  const button = document.createElement("button")
  Object.assign(button, { type: "button", className: "play", textContent: "▶" })
  button.setAttribute("aria-label", "Play γ")
  button.setAttribute("aria-pressed", "false")
  button.title = "Play: run γ from narrow to wide and back"
  slot.append(button)
  return button
}

// γ in steps of equal ratio, there and back
function stepper([low, high], from, calm) {
  const steps = calm ? PLAY.calmSteps : PLAY.steps, ratio = high / low
  let at = Math.round((steps * Math.log(from / low)) / Math.log(ratio)), way = at < steps ? 1 : -1
  return () => {
    if (at + way < 0 || at + way > steps) way = -way
    at += way
    return Math.round(100 * low * ratio ** (at / steps)) / 100
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live_ramp")
  if (!mounted.has(root)) mounted.set(root, mount(root, data.ranges))
  const state = mounted.get(root)
  const drawing = root.querySelector(".picture"), speech = root.querySelector(".said")
  const effect = root.querySelector(".effect"), tip = root.querySelector(".tip")
  const redraw = () => {
    state.frame = 0
    for (const [name, { input, output }] of Object.entries(state.inputs)) {
      output.textContent = state.setting[name].toFixed(SLIDERS[name].digits)
      input.setAttribute("aria-valuetext", output.textContent)
      const share = (state.setting[name] - input.min) / (input.max - input.min)
      input.style.setProperty("--share", `${100 * share}%`)
    }
    const solved = JSON.stringify(state.setting) === JSON.stringify(data.setting)
    const scale = data.scale ?? 1, width = Math.max(drawing.clientWidth / scale, 240)
    const made = picture(data, state.setting, solved, width, scale), { svg, said } = made
    drawing.innerHTML = svg
    effect.textContent = made.words
    state.made = made
    clearTimeout(state.timer)
    state.timer = setTimeout(() => { speech.textContent = `${said} ${made.words}` }, 400)
  }
  const release = (name) => {
    const { sent, told } = state.inputs[name]
    if (state.setting[name] !== (sent.at(-1) ?? told)) sent.push(state.setting[name])
    setStateValue("setting", { ...state.setting })
  }
  const buttons = () => {
    state.play.textContent = state.playing ? "❚❚" : "▶"
    state.play.setAttribute("aria-pressed", String(Boolean(state.playing)))
  }
  const start = () => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
    const next = stepper(data.ranges.gamma, state.setting.gamma, calm)
    state.playing = setInterval(() => {
      if (!root.isConnected) { clearInterval(state.playing); return }
      state.inputs.gamma.input.value = state.setting.gamma = next()
      soon()
    }, calm ? PLAY.calmMs : PLAY.ms)
    buttons()
  }
  const stop = () => {
    if (!state.playing) return
    clearInterval(state.playing)
    state.playing = 0
    buttons()
    release("gamma")
  }
  state.redraw = redraw // of these data, whoever asks for it
  const soon = () => { state.frame ||= requestAnimationFrame(() => state.redraw()) }
  for (const [name, value] of Object.entries(data.setting)) {
    const slider = state.inputs[name], { input, sent } = slider
    const free = data.by_hand || name !== "rate"
    if (!free || value !== slider.told) {
      // the answer to what was let go here is not set again: the hand has moved on
      const answered = sent.splice(0, sent.indexOf(value) + 1).length
      if (!free || !answered) input.value = state.setting[name] = value
    }
    slider.told = value
    input.disabled = !free
    input.oninput = () => { stop(); state.setting[name] = +input.value; soon() }
    input.onchange = () => release(name)
  }
  state.play.onclick = () => (state.playing ? stop() : start())
  drawing.onpointermove = (event) => {
    const svg = drawing.querySelector("svg")
    const lines = svg && under(data, state.made, state.setting.gamma, svg, event)
    tip.classList.toggle("on", Boolean(lines))
    if (!lines) return
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })))
    const box = root.getBoundingClientRect(), left = event.clientX - box.left + 14
    tip.style.left = `${Math.min(left, Math.max(box.width - tip.offsetWidth - 8, 0))}px`
    tip.style.top = `${event.clientY - box.top + 16}px`
  }
  drawing.onpointerleave = () => tip.classList.remove("on")
  redraw()
  state.watcher?.disconnect() // of earlier data: this is called anew at every change
  state.watcher = new ResizeObserver(soon)
  state.watcher.observe(drawing)
  return () => { state.watcher.disconnect(); clearTimeout(state.timer) }
}
