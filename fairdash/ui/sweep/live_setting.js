// Sliders through a sweep: numbers and ring follow the hand. Ticks are the trained values;
// where a setting did not finish, the nearest one is shown.
const SVG = "http://www.w3.org/2000/svg"
const LOOK_MS = 250 // between two looks whether a figure was drawn anew
const ANSWER_MS = 2000 // until the server has repeated what it was told on release

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

function card({ label, help }, { value, note, delta }) {
  const arrow = { "−": "↓", "+": "↑" }[delta[0]] ?? ""
  const chip = delta ? `<span class="chip">${arrow} ${escaped(delta)}</span>` : ""
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

function ring([x, y], { xaxis, yaxis, _size: size }, ink) {
  const across = (size.l + xaxis.l2p(x)).toFixed(1)
  const up = size.t + yaxis.l2p(y)
  return `<circle cx="${across}" cy="${up.toFixed(1)}" r="9" fill="none" stroke="${ink}"
    stroke-width="2"/><text x="${across}" y="${(up - 14).toFixed(1)}" text-anchor="middle"
    fill="${ink}" font-size="12">this model</text>`
}

function markFigure(state) {
  const ink = getComputedStyle(state.root).getPropertyValue("--st-text-color").trim()
  const key = CSS.escape(state.data.figure)
  const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`)
  if (!plot?._fullLayout?._size || !plot.querySelector(".svg-container")) return
  const at = state.chosen?.mark
  const markup = at ? ring(at, plot._fullLayout, ink) : ""
  const svg = layer(plot)
  if (svg.dataset.drawn !== markup) {
    svg.dataset.drawn = markup
    svg.innerHTML = markup
  }
}

function nearest(settings, at) {
  const far = (one) => one.at.reduce((sum, v, i) => sum + (v - at[i]) ** 2, 0)
  return settings.reduce((best, one) => (far(one) < far(best) ? one : best))
}

function redraw(state) {
  state.frame = 0
  const { data, inputs, root } = state
  const at = state.inputs.map((input) => +input.value)
  state.chosen = nearest(data.settings, at)
  const exact = state.chosen.at.join() === at.join()
  inputs.forEach((input, i) => {
    const value = data.sliders[i].values[at[i]]
    input.style.setProperty("--share", `${(100 * input.value) / Math.max(input.max, 1)}%`)
    input.setAttribute("aria-valuetext", value)
    input.previousElementSibling.lastElementChild.textContent = value
  })
  const { values } = state.chosen
  root.querySelector(".cards").innerHTML =
    data.cards.map((label, i) => card(label, values[i])).join("")
  root.querySelector(".nearest").textContent =
    exact ? "" : `Nearest trained setting: ${state.chosen.label}.`
  markFigure(state)
  clearTimeout(state.speech)
  state.speech = setTimeout(() => {
    const said = values.map(({ value }, i) => `${data.cards[i].label} ${value}`)
    root.querySelector(".said").textContent =
      `${exact ? "" : `Nearest trained: ${state.chosen.label}. `}${said.join(", ")}`
  }, 400)
}

function build(root, data) {
  const tick = (i, most) => `<i style="left:${(100 * i) / Math.max(most, 1)}%"></i>`
  const slider = ({ title, help, values }, i) => `<label title="${escaped(help)}">
    <span class="head"><span>${escaped(title)}</span><b aria-hidden="true"></b></span>
    <input type="range" min="0" max="${values.length - 1}" step="1"
      data-axis="${i}" aria-label="${escaped(title)}">
    <span class="ticks" aria-hidden="true">${values.map((_, k) => tick(k, values.length - 1)).join("")}</span>
    </label>`
  root.innerHTML = `<div class="sliders">${data.sliders.map(slider).join("")}</div>
    <div class="cards"></div><p class="nearest"></p><p class="said" aria-live="polite"></p>`
  return [...root.querySelectorAll("input")]
}

// where the server stands; until it repeats what it was told, it speaks of a place before
function follow(state) {
  const start = document.querySelector(".fairdash-start")?.textContent
  const at = start?.split(",") ?? []
  if (start === state.seen || at.length !== state.inputs.length) return
  if (start === state.told) state.until = 0
  else if (state.held || Date.now() < state.until) return
  else {
    state.inputs.forEach((input, i) => { input.value = at[i] })
    state.soon()
  }
  state.seen = start
}

const mounted = new WeakMap()

export default function ({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes))
  const root = parentElement.querySelector(".live_setting")
  const state = mounted.get(root) ?? { root }
  const shape = JSON.stringify(data.sliders)
  const fresh = { shape, held: false, until: 0, seen: null, told: null }
  if (state.shape !== shape) {
    Object.assign(state, fresh, { inputs: build(root, data) })
    mounted.set(root, state)
  }
  state.data = data
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  state.soon = soon
  follow(state)
  for (const input of state.inputs) {
    input.onpointerdown = () => { state.held = true }
    input.oninput = soon
    input.onchange = () => {
      state.held = false
      redraw(state)
      state.told = state.chosen.at.join()
      state.until = Date.now() + ANSWER_MS
      setStateValue("place", state.chosen.id)
    }
    input.onpointerup = () => { state.held = false }
  }
  const look = () => { follow(state); markFigure(state) }
  const watcher = setInterval(look, LOOK_MS)
  redraw(state)
  return () => {
    clearInterval(watcher)
    clearTimeout(state.speech)
  }
}
