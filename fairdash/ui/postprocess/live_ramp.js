// Ramps over histograms, solved from prefix sums at every step of a slider.
const SLIDERS = {
  gamma: { label: "Ramp width (γ)", min: 0.01, max: 2, step: 0.01 },
  rate: { label: "Target rate (ρ)", min: 0, max: 1, step: 0.005 },
  tolerance: { label: "Tolerance (ε)", min: 0, max: 0.5, step: 0.005 },
}
const PANEL = 128, GAP = 34, LEFT = 38, RIGHT = 30

// share of the rows below x, and the sum of their scores
function below({ score, mass, moment }, x) {
  const last = score.length - 1
  if (x <= score[0]) return [0, 0]
  if (x > score[last]) return [1, moment[last]]
  let low = 0, high = last
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (score[middle] < x) low = middle
    else high = middle
  }
  const share = (x - score[low]) / Math.max(score[high] - score[low], 1e-12)
  return [
    mass[low] + share * (mass[high] - mass[low]),
    moment[low] + share * (moment[high] - moment[low]),
  ]
}

function meanH(group, t, gamma) {
  const [a, sumA] = below(group, t), [b, sumB] = below(group, t + gamma)
  return 1 - b + (sumB - sumA - t * (b - a)) / gamma
}

// the start nearest to rest whose rate is within half the tolerance of the target
function solve(group, { gamma, rate, tolerance }, rest) {
  const atRest = meanH(group, rest, gamma)
  const low = Math.max(rate - tolerance / 2, 0), high = Math.min(rate + tolerance / 2, 1)
  if (atRest >= low - 1e-9 && atRest <= high + 1e-9) return rest
  const target = atRest > high ? high : low, side = atRest > high ? 1 : -1
  let near = rest, far = rest + side * (2 + 2 * gamma)
  for (let i = 0; i < 45; i++) {
    const middle = (near + far) / 2
    if (side * (meanH(group, middle, gamma) - target) > 0) near = middle
    else far = middle
  }
  return far
}

const percent = (share) => `${(100 * share).toFixed(1)}%`
const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2)
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

// scores often pile up at an end: such bars are cut, else the others would vanish
function tallest(groups) {
  const bars = groups.flatMap((group) => group.bins).sort((a, b) => b - a)
  const usual = bars[2 * groups.length] ?? 0
  return Math.max(bars[0] > 3 * usual ? 1.5 * usual : bars[0], 0.01)
}

// corners of a rule from −1 to 1: two knots at one score are a jump
function staircase([scores, probabilities]) {
  const corners = [[-1, probabilities[0]]]
  scores.forEach((score, i) => corners.push([Math.min(Math.max(score, -1), 1), probabilities[i]]))
  corners.push([1, probabilities[probabilities.length - 1]])
  return corners
}

function panel(group, colour, t, gamma, hardt, top, width, peak) {
  const inner = width - LEFT - RIGHT, base = top + PANEL
  const x = (score) => LEFT + ((Math.min(Math.max(score, -1), 1) + 1) / 2) * inner
  const n = group.bins.length, w = inner / n
  const bar = (share, i) => {
    const tall = Math.min(share / peak, 1) * (PANEL - 6)
    return `M${(LEFT + i * w + 0.5).toFixed(1)},${base}v${(-tall).toFixed(1)}h${(w - 1).toFixed(1)}V${base}z`
  }
  const h = (score) => Math.min(Math.max((score - t) / gamma, 0), 1)
  const all = group.bins.map(bar).join("")
  const positive = group.bins
    .map((share, i) => {
      const left = -1 + (2 * i) / n
      const mean = [0.1, 0.3, 0.5, 0.7, 0.9].reduce((sum, f) => sum + h(left + (f * 2) / n), 0) / 5
      return bar(share * mean, i)
    })
    .join("")
  const y = (p) => base - p * (PANEL - 6)
  const corners = [-1, t, t + gamma, 1].map((s) => Math.min(Math.max(s, -1), 1))
  const line = corners.map((s) => `${x(s).toFixed(1)},${y(h(s)).toFixed(1)}`).join(" ")
  const mark = hardt == null ? "" :
    `<path d="M${staircase(hardt).map(([s, p]) => `${x(s).toFixed(1)},${y(p).toFixed(1)}`).join("L")}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 4"/>`
  const words = `starts at ${signed(t)}, ${percent(meanH(group, t, gamma))} decided 1`
  return `
    <text x="${LEFT}" y="${top - 8}"><tspan font-weight="600" style="fill:${colour}">${escaped(group.name)}</tspan>
      <tspan dx="6" class="faint">${words}</tspan></text>
    <line x1="${LEFT}" x2="${width - RIGHT}" y1="${base}" y2="${base}" stroke="currentColor" stroke-opacity=".3"/>
    <path d="${all}" fill="${colour}" fill-opacity=".28"/><path d="${positive}" fill="${colour}"/>
    ${mark}<polyline points="${line}" fill="none" stroke="currentColor" stroke-width="2"/>
    <text class="faint" x="${LEFT - 6}" y="${top + 12}" text-anchor="end">${Math.max(...group.bins) > peak ? "≥" : ""}${Math.round(100 * peak)}%</text>
    <text class="faint" x="${LEFT - 6}" y="${base}" text-anchor="end">0</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${top + 12}">1</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${base}">0</text>`
}

function picture(data, setting, width) {
  const rest = data.centred ? -setting.gamma / 2 : 0
  const peak = tallest(data.groups)
  const starts = data.groups.map((group) => solve(group, setting, rest))
  const panels = data.groups.map((group, i) =>
    panel(group, data.colours[i], starts[i], setting.gamma, data.hardt[i], 24 + i * (PANEL + GAP), width, peak))
  const bottom = 24 + data.groups.length * (PANEL + GAP) - GAP
  const inner = width - LEFT - RIGHT
  const ticks = [-1, -0.5, 0, 0.5, 1].map((v) =>
    `<text class="faint" x="${LEFT + ((v + 1) / 2) * inner}" y="${bottom + 16}" text-anchor="middle">${String(v).replace("-", "−")}</text>`)
  const said = data.groups.map((group, i) => `${group.name} ${percent(meanH(group, starts[i], setting.gamma))}`)
  const svg = `<svg viewBox="0 0 ${width} ${bottom + 38}" height="${bottom + 38}" role="img"
    aria-label="Scores by group with ramps. Decided 1: ${escaped(said.join(", "))}">${panels.join("")}${ticks.join("")}
    <text class="faint" x="${LEFT + inner / 2}" y="${bottom + 33}" text-anchor="middle">score 2p − 1</text></svg>`
  return { svg, said: `Decided 1: ${said.join(", ")}.` }
}

const mounted = new WeakMap()

function mount(root) {
  root.innerHTML = `<div class="sliders"></div><div class="picture"></div>
    <p class="said" aria-live="polite"></p>`
  const box = root.querySelector(".sliders")
  const state = { inputs: {}, frame: 0, timer: 0 }
  for (const [name, { label, ...range }] of Object.entries(SLIDERS)) {
    const row = document.createElement("label")
    const output = document.createElement("span"), input = document.createElement("input")
    Object.assign(input, { type: "range", ...range })
    input.setAttribute("aria-label", label)
    output.setAttribute("aria-hidden", "true") // the slider says it itself
    row.append(label, output, input)
    box.append(row)
    state.inputs[name] = { input, output }
  }
  return state
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live_ramp")
  const first = !mounted.has(root)
  if (first) mounted.set(root, mount(root))
  const state = mounted.get(root)
  const drawing = root.querySelector(".picture"), speech = root.querySelector(".said")
  const values = () =>
    Object.fromEntries(Object.entries(state.inputs).map(([name, { input }]) => [name, +input.value]))
  const redraw = () => {
    state.frame = 0
    const setting = values()
    if (data.rate != null) setting.rate = data.rate
    for (const [name, { input, output }] of Object.entries(state.inputs)) {
      output.textContent = setting[name].toFixed(name === "gamma" ? 2 : 3)
      input.setAttribute("aria-valuetext", output.textContent)
      const share = (setting[name] - input.min) / (input.max - input.min)
      input.style.setProperty("--share", `${100 * share}%`)
    }
    const { svg, said } = picture(data, setting, Math.max(drawing.clientWidth, 240))
    drawing.innerHTML = svg
    clearTimeout(state.timer)
    state.timer = setTimeout(() => { speech.textContent = said }, 400)
  }
  const soon = () => { state.frame ||= requestAnimationFrame(redraw) }
  if (first) for (const name in state.inputs) state.inputs[name].input.value = data.start[name]
  const { rate } = state.inputs
  rate.input.disabled = data.rate != null
  if (data.rate != null) rate.input.value = data.rate
  for (const { input } of Object.values(state.inputs)) {
    input.oninput = soon
    input.onchange = () => setStateValue("setting", values())
  }
  redraw()
  const watcher = new ResizeObserver(soon)
  watcher.observe(drawing)
  return () => { watcher.disconnect(); clearTimeout(state.timer) }
}
