// Sliders through a sweep: numbers, ring and frame follow the hand. Ticks are the trained
// values; between them the nearest trained setting is shown, until the one asked for is.
const SVG = "http://www.w3.org/2000/svg"
const LOOK_MS = 250 // between two looks whether a figure was drawn anew
const ANSWER_MS = 2000 // until the server has repeated what it was told on release
const NEAR = 0.04 // of the way between two ticks, within which a tick is meant

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

function card({ label, help }, { value, note, delta, tone }) {
  const arrow = delta.startsWith("−") ? "↓" : "↑"
  const chip = delta ? `<span class="chip ${tone}">${arrow} ${escaped(delta)}</span>` : ""
  const hint = help ? ` <abbr tabindex="0" title="${escaped(help)}">?</abbr>` : ""
  return `<div class="card"><div class="label">${escaped(label)}${hint}</div>
    <div class="value">${escaped(value)}</div>
    <div class="note">${chip}${escaped(note)}</div></div>`
}

// Plotly draws on, and nothing of it moves: the mark lies above it
function layer(plot) {
  const known = plot.querySelector(".fairdash-mark")
  if (known) return known
  const svg = document.createElementNS(SVG, "svg")
  svg.classList.add("fairdash-mark")
  svg.setAttribute("aria-hidden", "true")
  svg.style.cssText = "position:absolute;inset:0;width:100%;height:100%;pointer-events:none"
  plot.querySelector(".svg-container").append(svg)
  return svg
}

function shape(name, [x, y], { xaxis, yaxis, _size: size }, ink, paper) {
  const across = (value) => (size.l + xaxis.l2p(value)).toFixed(1)
  const up = (value) => (size.t + yaxis.l2p(value)).toFixed(1)
  if (name === "map") {
    const left = across(x - 0.5), top = up(y + 0.5)
    const box = `<rect x="${left}" y="${top}" width="${across(x + 0.5) - left}"
      height="${up(y - 0.5) - top}" fill="none" stroke=`
    return `${box}"${paper}" stroke-width="7"/>${box}"${ink}" stroke-width="3.5"/>`
  }
  return `<circle cx="${across(x)}" cy="${up(y)}" r="9" fill="none" stroke="${ink}"
    stroke-width="2"/><text x="${across(x)}" y="${up(y) - 14}" text-anchor="middle"
    fill="${ink}" font-size="12">this model</text>`
}

function markFigures(state) {
  const style = getComputedStyle(state.root)
  const [ink, paper] = ["text", "background"].map((name) =>
    style.getPropertyValue(`--st-${name}-color`).trim())
  for (const [name, key] of Object.entries(state.data.figures)) {
    const plot = document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`)
    if (!plot?._fullLayout?._size || !plot.querySelector(".svg-container")) continue
    const at = state.chosen?.marks[name]
    const markup = at ? shape(name, at, plot._fullLayout, ink, paper) : ""
    const svg = layer(plot)
    if (svg.dataset.drawn !== markup) {
      svg.dataset.drawn = markup
      svg.innerHTML = markup
    }
  }
}

// where sliders stand, on a trained setting if one is near enough to be meant
function standing(state) {
  const at = state.inputs.map((input) => +input.value)
  const { settings } = state.data
  const near = settings.find((one) => one.at.every((v, i) => Math.abs(v - at[i]) < NEAR))
  return near ? near.at : at.map((v) => (Math.abs(v - Math.round(v)) < NEAR ? Math.round(v) : v))
}

function nearest(settings, at) {
  const far = (one) => one.at.reduce((sum, v, i) => sum + (v - at[i]) ** 2, 0)
  return settings.reduce((best, one) => (far(one) < far(best) ? one : best))
}

// a value between two ticks has three digits; the server knows the same rule
function between({ numbers }, at) {
  const low = Math.floor(at), first = numbers[low], step = numbers[low + 1] - first
  return +(first + (at - low) * step).toPrecision(3)
}

const valueAt = (slider, at) =>
  Number.isInteger(at) ? slider.values[at] : `${between(slider, at)}`

function placeOf(slider, at) {
  if (Number.isInteger(at)) return at
  const low = Math.floor(at), { numbers } = slider
  return low + (between(slider, at) - numbers[low]) / (numbers[low + 1] - numbers[low])
}

function redraw(state) {
  state.frame = 0
  const { data, inputs, root } = state
  const at = standing(state)
  state.chosen = nearest(data.settings, at)
  const exact = state.chosen.at.join() === at.join()
  inputs.forEach((input, i) => {
    const value = valueAt(data.sliders[i], at[i])
    input.style.setProperty("--share", `${(100 * input.value) / Math.max(input.max, 1)}%`)
    input.setAttribute("aria-valuetext", value)
    input.previousElementSibling.lastElementChild.textContent = value
  })
  const { values } = state.chosen
  root.querySelector(".cards").innerHTML =
    data.cards.map((label, i) => card(label, values[i])).join("")
  root.querySelector(".nearest").textContent =
    exact ? "" : `Nearest trained setting: ${state.chosen.label}.`
  document.dispatchEvent(new CustomEvent("fairdash-setting", { detail: state.chosen.id }))
  markFigures(state)
  clearTimeout(state.speech)
  state.speech = setTimeout(() => {
    const said = values.map(({ value }, i) => `${data.cards[i].label} ${value}`)
    root.querySelector(".said").textContent =
      `${exact ? "" : `Nearest trained: ${state.chosen.label}. `}${said.join(", ")}`
  }, 400)
}

function build(root, data) {
  const tick = (i, most) => `<i style="left:${(100 * i) / Math.max(most, 1)}%"></i>`
  const slider = ({ title, help, values, numbers }, i) => `<label title="${escaped(help)}">
    <span class="head"><span>${escaped(title)}</span><b aria-hidden="true"></b></span>
    <input type="range" min="0" max="${values.length - 1}" step="${numbers ? "any" : 1}"
      data-axis="${i}" aria-label="${escaped(title)}">
    <span class="ticks" aria-hidden="true">${values.map((_, k) => tick(k, values.length - 1)).join("")}</span>
    </label>`
  root.innerHTML = `<div class="sliders">${data.sliders.map(slider).join("")}</div>
    <div class="cards"></div><p class="nearest"></p><p class="said" aria-live="polite"></p>`
  return [...root.querySelectorAll("input")]
}

const inputsTo = (state, at) => state.inputs.forEach((input, i) => { input.value = at[i] })

const mounted = new WeakMap()

export default function ({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes))
  const root = parentElement.querySelector(".live_setting")
  const state = mounted.get(root) ?? { root }
  const shape = JSON.stringify(data.sliders)
  if (state.shape !== shape) {
    Object.assign(state, { shape, inputs: build(root, data), held: false, until: 0 })
    mounted.set(root, state)
  }
  state.data = data
  // until the server repeats what it was told on release, it speaks of a place before
  const start = data.start.join(), waits = Date.now() < state.until
  if (start === state.told) state.until = 0
  else if (!state.held && !waits) {
    inputsTo(state, data.start)
  }
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  for (const input of state.inputs) {
    input.onpointerdown = () => { state.held = true }
    input.onkeydown = (event) => { // from tick to tick, whatever lies between
      const up = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key]
      if (!up) return
      event.preventDefault()
      const at = +input.value + up * NEAR
      input.value = up > 0 ? Math.floor(at) + 1 : Math.ceil(at) - 1
      input.onchange()
    }
    input.oninput = soon
    input.onchange = () => {
      state.held = false
      const exact = standing(state)
      const at = exact.map((v, i) => placeOf(data.sliders[i], v))
      inputsTo(state, at)
      state.told = at.join()
      state.until = Date.now() + ANSWER_MS
      redraw(state)
      setStateValue("place", at)
    }
    input.onpointerup = () => { state.held = false }
  }
  const answer = () => redraw(state)
  document.addEventListener("fairdash-where", answer)
  const watcher = setInterval(() => markFigures(state), LOOK_MS)
  redraw(state)
  return () => {
    clearInterval(watcher)
    clearTimeout(state.speech)
    document.removeEventListener("fairdash-where", answer)
  }
}
