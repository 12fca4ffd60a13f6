// Ramps over histograms. At rest they are those that the server solved; while a slider
// moves they are interpolated from tables of starts by width and rate.
const SLIDERS = {
  gamma: { label: "Ramp width (γ)", step: 0.01, digits: 2 },
  rate: { label: "Target rate (ρ)", step: 0.005, digits: 3 },
  tolerance: { label: "Tolerance (ε)", step: 0.005, digits: 3 },
}
const PANEL = 128, GAP = 34, LEFT = 38, RIGHT = 30

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

const percent = (share) => `${(100 * share).toFixed(1)}%`
const signed = (x) => (x < -0.005 ? "−" : "+") + Math.abs(x).toFixed(2)
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

// scores often pile up at an end: such bars are cut, else the others would vanish
function tallest(groups) {
  const bars = groups.flatMap((group) => group.histogram).sort((a, b) => b - a)
  const usual = bars[2 * groups.length] ?? 0
  return Math.max(bars[0] > 3 * usual ? 1.5 * usual : bars[0], 0.01)
}

function panel(group, colour, [t, share], gamma, top, width, peak) {
  const inner = width - LEFT - RIGHT, base = top + PANEL
  const x = (score) => LEFT + ((Math.min(Math.max(score, -1), 1) + 1) / 2) * inner
  const n = group.histogram.length, w = inner / n
  const bar = (share, i) => {
    const tall = Math.min(share / peak, 1) * (PANEL - 6)
    return `M${(LEFT + i * w + 0.5).toFixed(1)},${base}v${(-tall).toFixed(1)}h${(w - 1).toFixed(1)}V${base}z`
  }
  const h = (score) => Math.min(Math.max((score - t) / gamma, 0), 1)
  const all = group.histogram.map(bar).join("")
  const positive = group.histogram
    .map((share, i) => {
      const left = -1 + (2 * i) / n
      const mean = [0.1, 0.3, 0.5, 0.7, 0.9].reduce((sum, f) => sum + h(left + (f * 2) / n), 0) / 5
      return bar(share * mean, i)
    })
    .join("")
  const y = (p) => base - p * (PANEL - 6)
  const corners = [-1, t, t + gamma, 1].map((s) => Math.min(Math.max(s, -1), 1))
  const line = corners.map((s) => `${x(s).toFixed(1)},${y(h(s)).toFixed(1)}`).join(" ")
  const words = `starts at ${signed(t)}, ${percent(share)} decided 1`
  return `
    <text x="${LEFT}" y="${top - 8}"><tspan style="fill:${colour}">■</tspan> <tspan font-weight="600">${escaped(group.name)}</tspan>
      <tspan dx="6" class="faint">${words}</tspan></text>
    <line x1="${LEFT}" x2="${width - RIGHT}" y1="${base}" y2="${base}" stroke="currentColor" stroke-opacity=".3"/>
    <path d="${all}" fill="${colour}" fill-opacity=".28"/><path d="${positive}" fill="${colour}"/>
    <polyline points="${line}" fill="none" stroke="currentColor" stroke-width="2"/>
    <text class="faint" x="${LEFT - 6}" y="${top + 12}" text-anchor="end">${Math.max(...group.histogram) > peak ? "≥" : ""}${Math.round(100 * peak)}%</text>
    <text class="faint" x="${LEFT - 6}" y="${base}" text-anchor="end">0</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${top + 12}">1</text>
    <text class="faint" x="${width - RIGHT + 6}" y="${base}">0</text>`
}

function picture(data, setting, solved, width) {
  const peak = tallest(data.groups)
  const ramps = solved
    ? data.solved
    : data.groups.map((group) => preview(group, setting))
  const panels = data.groups.map((group, i) =>
    panel(group, data.colours[i], ramps[i], setting.gamma, 24 + i * (PANEL + GAP), width, peak))
  const bottom = 24 + data.groups.length * (PANEL + GAP) - GAP
  const inner = width - LEFT - RIGHT
  const ticks = [-1, -0.5, 0, 0.5, 1].map((v) =>
    `<text class="faint" x="${LEFT + ((v + 1) / 2) * inner}" y="${bottom + 16}" text-anchor="middle">${String(v).replace("-", "−")}</text>`)
  const said = data.groups.map((group, i) => `${group.name} ${percent(ramps[i][1])}`)
  const svg = `<svg viewBox="0 0 ${width} ${bottom + 38}" height="${bottom + 38}" role="img"
    aria-label="Scores by group with ramps. Decided 1: ${escaped(said.join(", "))}">${panels.join("")}${ticks.join("")}
    <text class="faint" x="${LEFT + inner / 2}" y="${bottom + 33}" text-anchor="middle">score 2p − 1</text></svg>`
  return { svg, said: `Decided 1: ${said.join(", ")}.` }
}

const mounted = new WeakMap()

function mount(root, ranges) {
  root.innerHTML = `<div class="sliders"></div><div class="picture"></div>
    <p class="said" aria-live="polite"></p>`
  const box = root.querySelector(".sliders")
  const state = { inputs: {}, setting: {}, frame: 0, timer: 0 }
  for (const [name, { label, step }] of Object.entries(SLIDERS)) {
    const row = document.createElement("label")
    const output = document.createElement("span"), input = document.createElement("input")
    Object.assign(input, { type: "range", min: ranges[name][0], max: ranges[name][1], step })
    input.setAttribute("aria-label", label)
    output.setAttribute("aria-hidden", "true") // the slider says it itself
    row.append(label, output, input)
    box.append(row)
    state.inputs[name] = { input, output, sent: [], told: null }
  }
  return state
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live_ramp")
  if (!mounted.has(root)) mounted.set(root, mount(root, data.ranges))
  const state = mounted.get(root)
  const drawing = root.querySelector(".picture"), speech = root.querySelector(".said")
  const redraw = () => {
    state.frame = 0
    for (const [name, { input, output }] of Object.entries(state.inputs)) {
      output.textContent = state.setting[name].toFixed(SLIDERS[name].digits)
      input.setAttribute("aria-valuetext", output.textContent)
      const share = (state.setting[name] - input.min) / (input.max - input.min)
      input.style.setProperty("--share", `${100 * share}%`)
    }
    const solved = JSON.stringify(state.setting) === JSON.stringify(data.setting)
    const { svg, said } = picture(data, state.setting, solved, Math.max(drawing.clientWidth, 240))
    drawing.innerHTML = svg
    clearTimeout(state.timer)
    state.timer = setTimeout(() => { speech.textContent = said }, 400)
  }
  const soon = () => { state.frame ||= requestAnimationFrame(redraw) }
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
    input.oninput = () => { state.setting[name] = +input.value; soon() }
    input.onchange = () => {
      if (state.setting[name] !== (sent.at(-1) ?? slider.told)) sent.push(state.setting[name])
      setStateValue("setting", { ...state.setting })
    }
  }
  redraw()
  const watcher = new ResizeObserver(soon)
  watcher.observe(drawing)
  return () => { watcher.disconnect(); clearTimeout(state.timer) }
}
