// A map of P(1) over two features that follows the slider: computed here, per setting.
const REACH = 4 // both features run from -REACH to REACH
const CELLS = 81 // of the map, along either feature
const ANSWER_MS = 2000 // until the server has repeated what it was told on release
const LOW = [33, 102, 172], MIDDLE = [247, 247, 247], HIGH = [178, 24, 43], EDGE = "#262730"

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const at = (i) => -REACH + (2 * REACH * i) / (CELLS - 1)
const percent = (share) => `${(100 * share).toFixed(1)}%`

function logit({ weights, biases }, row) {
  let values = row
  weights.forEach((weight, layer) => {
    const last = layer === weights.length - 1
    values = biases[layer].map((bias, unit) => {
      const sum = values.reduce((total, value, i) => total + value * weight[i][unit], bias)
      return last ? sum : Math.max(sum, 0)
    })
  })
  return values[0]
}

const probability = (network, row) => 1 / (1 + Math.exp(-logit(network, row)))

// once for each setting: the map by feature 2, then 1, and what is said of it
function solve(network, points) {
  const map = Array.from({ length: CELLS }, (_, j) =>
    Array.from({ length: CELLS }, (_, i) => probability(network, [at(i), at(j)])))
  const change = Math.max(...map.map((row) => Math.max(...row) - Math.min(...row)))
  let right = 0, kept = 0
  for (const [x, y, outcome] of points) {
    const decided = logit(network, [x, y]) > 0
    right += decided === (outcome === 1)
    kept += Array.from({ length: CELLS }, (_, i) => logit(network, [at(i), y]) > 0)
      .every((same) => same === decided)
  }
  return { map, change, right: right / points.length, kept: kept / points.length }
}

function colour(p) {
  const [from, to, share] = p < 0.5 ? [LOW, MIDDLE, 2 * p] : [MIDDLE, HIGH, 2 * p - 1]
  return from.map((value, i) => Math.round(value + share * (to[i] - value)))
}

// where P crosses one half, as short lines across the cells (marching squares)
function boundary(map) {
  const parts = []
  const cross = (a, b) => (a - 0.5) * (b - 0.5) < 0 ? (0.5 - a) / (b - a) : null
  for (let j = 0; j < CELLS - 1; j++) {
    for (let i = 0; i < CELLS - 1; i++) {
      const [a, b, c, d] = [map[j][i], map[j][i + 1], map[j + 1][i + 1], map[j + 1][i]]
      const ends = [[cross(a, b), (t) => [i + t, j]], [cross(b, c), (t) => [i + 1, j + t]],
        [cross(d, c), (t) => [i + t, j + 1]], [cross(a, d), (t) => [i, j + t]]]
        .filter(([t]) => t !== null).map(([t, place]) => place(t))
      if (ends.length >= 2) parts.push(ends)
    }
  }
  return parts
}

function paint(canvas, { map }, points) {
  const size = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio))
  if (canvas.width !== size) canvas.width = canvas.height = size
  const context = canvas.getContext("2d")
  const image = new ImageData(CELLS, CELLS)
  map.forEach((row, j) => row.forEach((p, i) => {
    image.data.set([...colour(p), 255], 4 * ((CELLS - 1 - j) * CELLS + i))
  }))
  const small = new OffscreenCanvas(CELLS, CELLS)
  small.getContext("2d").putImageData(image, 0, 0)
  context.drawImage(small, 0, 0, size, size)
  const unit = size / CELLS, line = size / 180
  const across = (x) => ((x + REACH) / (2 * REACH)) * size
  context.strokeStyle = context.fillStyle = EDGE
  context.lineWidth = line * 1.4
  context.beginPath()
  for (const [[x0, y0], [x1, y1]] of boundary(map)) {
    context.moveTo((x0 + 0.5) * unit, size - (y0 + 0.5) * unit)
    context.lineTo((x1 + 0.5) * unit, size - (y1 + 0.5) * unit)
  }
  context.stroke()
  context.globalAlpha = 0.6
  context.lineWidth = line * 0.6
  for (const [x, y, outcome, group] of points) {
    const [left, top, r] = [across(x), size - across(y), line * 1.5]
    context.beginPath()
    if (group) context.rect(left - r, top - r, 2 * r, 2 * r)
    else context.arc(left, top, r, 0, 2 * Math.PI)
    outcome ? context.fill() : context.stroke()
  }
  context.globalAlpha = 1
}

function redraw(state) {
  state.frame = 0
  const { data, root, input } = state
  const place = +input.value, setting = String(data.settings[place])
  const solved = state.solved[place] ??= solve(data.networks[place], data.points)
  input.style.setProperty("--share", `${(100 * place) / (data.settings.length - 1)}%`)
  input.setAttribute("aria-valuetext", setting)
  root.querySelector(".head b").textContent = setting
  const moves = `Feature 1 alone moves P by up to ${(100 * solved.change).toFixed(1)} pt`
  root.querySelector(".finding").textContent = moves
  root.querySelector(".note").textContent = `${data.points.length} made-up rows: ` +
    `${percent(solved.right)} predicted right, ${percent(solved.kept)} keep their ` +
    "decision wherever feature 1 moves them on this map."
  const canvas = root.querySelector("canvas")
  canvas.setAttribute("aria-label", `Map of P(1) of ${data.name}. ${moves}.`)
  paint(canvas, solved, data.points)
  clearTimeout(state.speech)
  state.speech = setTimeout(() => { root.querySelector(".said").textContent = moves }, 400)
}

function build(root, { slider, settings }) {
  root.innerHTML = `<p class="finding"></p><label><span class="head">
    <span>${escaped(slider)}</span><b aria-hidden="true"></b></span>
    <input type="range" min="0" max="${settings.length - 1}" step="1"
    aria-label="${escaped(slider)}"></label>
    <div class="free"><span>← feature 1 does not count →</span></div>
    <div class="map"><span class="second">feature 2</span><canvas role="img"></canvas></div>
    <div class="scale"><span>P 0%</span><i></i><span>100%</span></div>
    <p class="note"></p><p class="said" aria-live="polite"></p>`
  return root.querySelector("input")
}

const mounted = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".live_surface")
  const state = mounted.get(root) ?? { root, held: false, until: 0, solved: [] }
  const start = Math.max(0, data.settings.indexOf(data.start))
  state.data = data
  if (!state.input) {
    state.input = build(root, data)
    mounted.set(root, state)
    state.input.value = start
    data.networks.forEach((network, i) => setTimeout(() => {  // before they are asked for
      state.solved[i] ??= solve(network, data.points)
    }, 60 * (i + 1)))
  }
  // until the server repeats what it was told on release, it speaks of a setting before
  if (start === state.told) state.until = 0
  else if (!state.held && Date.now() >= state.until) state.input.value = start
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  state.input.onpointerdown = () => { state.held = true }
  state.input.onpointerup = () => { state.held = false }
  state.input.oninput = soon
  state.input.onchange = () => {
    state.held = false
    state.told = +state.input.value
    state.until = Date.now() + ANSWER_MS
    setStateValue("setting", data.settings[state.told])
  }
  const watcher = new ResizeObserver(soon)
  watcher.observe(root)
  redraw(state)
  return () => {
    watcher.disconnect()
    clearTimeout(state.speech)
  }
}
