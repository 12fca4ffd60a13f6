// Sliders through a finished grid: numbers, ring and frame follow the hand.
const SVG = "http://www.w3.org/2000/svg"
const LOOK_MS = 250 // between two looks whether a figure was drawn anew
const ANSWER_MS = 2000 // until the server has repeated what it was told on release

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

const standing = (state) => state.inputs.map((input) => +input.value)

function redraw(state) {
  state.frame = 0
  const { data, inputs, root } = state
  const at = standing(state).join()
  state.chosen = state.byPlace.get(at)
  inputs.forEach((input, i) => {
    const value = data.sliders[i].values[+input.value]
    input.style.setProperty("--share", `${(100 * input.value) / Math.max(input.max, 1)}%`)
    input.setAttribute("aria-valuetext", value)
    input.previousElementSibling.lastElementChild.textContent = value
  })
  const values = state.chosen?.values
  root.querySelector(".cards").innerHTML = values
    ? data.cards.map((label, i) => card(label, values[i])).join("")
    : '<p class="none">This setting did not finish; move on to another.</p>'
  document.dispatchEvent(new CustomEvent("fairdash-setting", { detail: at }))
  markFigures(state)
  clearTimeout(state.speech)
  state.speech = setTimeout(() => {
    const said = (values ?? []).map(({ value }, i) => `${data.cards[i].label} ${value}`)
    root.querySelector(".said").textContent = said.join(", ")
  }, 400)
}

function build(root, data) {
  const slider = ({ title, help, values }, i) => `<label title="${escaped(help)}">
    <span class="head"><span>${escaped(title)}</span><b aria-hidden="true"></b></span>
    <input type="range" min="0" max="${values.length - 1}" step="1" data-axis="${i}"
      aria-label="${escaped(title)}"></label>`
  root.innerHTML = `<div class="sliders">${data.sliders.map(slider).join("")}</div>
    <div class="cards"></div><p class="said" aria-live="polite"></p>`
  return [...root.querySelectorAll("input")]
}

const mounted = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live_setting")
  const state = mounted.get(root) ?? { root }
  const shape = JSON.stringify(data.sliders)
  if (state.shape !== shape) {
    Object.assign(state, { shape, inputs: build(root, data), held: false, until: 0 })
    mounted.set(root, state)
  }
  state.data = data
  state.byPlace = new Map(data.settings.map((setting) => [setting.at.join(), setting]))
  // until the server repeats what it was told on release, it speaks of a place before
  const start = data.start.join(), waits = Date.now() < state.until
  if (start === state.told) state.until = 0
  else if (!state.held && !waits) {
    state.inputs.forEach((input, i) => { input.value = data.start[i] })
  }
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  for (const input of state.inputs) {
    input.onpointerdown = () => { state.held = true }
    input.oninput = soon
    input.onchange = () => {
      state.held = false
      state.told = standing(state).join()
      state.until = Date.now() + ANSWER_MS
      setStateValue("place", standing(state))
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
