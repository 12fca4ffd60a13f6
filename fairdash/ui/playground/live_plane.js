// People in a plane and the surface of a model, which follows the hand. Between two
// trained stops the surface is interpolated; words and figures are those of the nearest.
const STEPS = 20 // of the slider between two stops
const PLAY_MS = 5000 // from one end to the other
const HEIGHT = 168, LEFT = 42, RIGHT = 132, TOP = 10, BOTTOM = 26

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}%`)
const still = matchMedia("(prefers-reduced-motion: reduce)")

const decode = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))

// the surface at a place between stops, as shares
function surface(stops, place) {
  const low = Math.min(Math.floor(place), stops.length - 1)
  const high = Math.min(low + 1, stops.length - 1), part = place - low
  const a = stops[low], b = stops[high], out = new Float32Array(a.length)
  for (let i = 0; i < a.length; i++) out[i] = (a[i] * (1 - part) + b[i] * part) / 255
  return out
}

// where the surface crosses one half: segments by cell, linear along its sides
function contour(values, side) {
  const path = []
  const at = (i, j) => values[j * side + i] - 0.5
  const cross = (p, q, a, b) => {
    const share = a / (a - b)
    return [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]
  }
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]]
      const points = []
      for (let k = 0; k < 4; k++) {
        const p = corners[k], q = corners[(k + 1) % 4]
        const a = at(...p), b = at(...q)
        if (a > 0 !== b > 0) points.push(cross(p, q, a, b))
      }
      for (let k = 0; k + 1 < points.length; k += 2) path.push([points[k], points[k + 1]])
    }
  }
  return path
}

function colours(root, data) {
  const style = getComputedStyle(root)
  const token = (name) => style.getPropertyValue(name).trim()
  return { ink: token("--st-text-color"), accent: token("--st-primary-color"), groups: data.colours }
}

function tint(values, side, accent) {
  const probe = new OffscreenCanvas(1, 1).getContext("2d")
  probe.fillStyle = accent
  probe.fillRect(0, 0, 1, 1)
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data
  const image = new ImageData(side, side)
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const from = values[j * side + i], to = 4 * ((side - 1 - j) * side + i)
      image.data.set([r, g, b, Math.round(from * 96)], to)
    }
  }
  const picture = new OffscreenCanvas(side, side)
  picture.getContext("2d").putImageData(image, 0, 0)
  return picture
}

function drawPlane(state) {
  const { canvas, data, place } = state
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1
  const size = Math.max(Math.round(box.width * scale), 200)
  if (canvas.width !== size) canvas.width = canvas.height = size
  const pen = canvas.getContext("2d"), paint = colours(state.root, data)
  const unit = size / (2 * data.edge), side = data.side
  const x = (value) => (value + data.edge) * unit, y = (value) => (data.edge - value) * unit
  const cell = size / (side - 1)
  pen.clearRect(0, 0, size, size)
  const shown = state.grids[0].map((_, group) => surface(state.grids.map((stop) => stop[group]), place))
  pen.imageSmoothingEnabled = true
  pen.drawImage(tint(shown[state.group] ?? shown[0], side, paint.accent), 0, 0, size, size)
  pen.lineWidth = scale
  pen.strokeStyle = paint.ink
  pen.globalAlpha = 0.18
  pen.setLineDash([4 * scale, 4 * scale])
  pen.beginPath()
  pen.moveTo(x(0), 0); pen.lineTo(x(0), size)
  pen.moveTo(0, y(0)); pen.lineTo(size, y(0))
  pen.stroke()
  pen.setLineDash([])
  pen.globalAlpha = 1
  drawPeople(pen, state, paint, x, y, scale)
  shown.forEach((values, group) => {
    pen.strokeStyle = shown.length > 1 ? paint.groups[group] : paint.ink
    pen.lineWidth = 3 * scale
    pen.beginPath()
    for (const [a, b] of contour(values, side)) {
      pen.moveTo(a[0] * cell, size - a[1] * cell)
      pen.lineTo(b[0] * cell, size - b[1] * cell)
    }
    pen.stroke()
  })
}

// A round, B square; filled where the outcome is 1; larger where the method looks
function drawPeople(pen, state, paint, x, y, scale) {
  const { people, ratio } = state.data
  const weights = ratio?.[state.nearest]
  for (let i = 0; i < people.across.length; i++) {
    const large = weights ? Math.min(Math.max(Math.sqrt(weights[i]), 0.45), 3) : 1
    const radius = 3.2 * scale * large
    const px = x(people.across[i]), py = y(people.up[i])
    pen.beginPath()
    if (people.group[i]) pen.rect(px - radius * 0.9, py - radius * 0.9, radius * 1.8, radius * 1.8)
    else pen.arc(px, py, radius, 0, 7)
    pen.lineWidth = 1.4 * scale
    pen.strokeStyle = pen.fillStyle = paint.groups[people.group[i]]
    pen.globalAlpha = 0.85
    if (people.outcome[i]) pen.fill()
    else pen.stroke()
    if (people.wrong[i] && state.truth) {
      pen.strokeStyle = paint.ink
      pen.beginPath()
      pen.arc(px, py, radius * 2, 0, 7)
      pen.stroke()
    }
  }
  pen.globalAlpha = 1
}

function rates(data, stop) {
  const bars = data.groups.map((name, i) => {
    const rate = stop[`rate_${name}`], error = stop[`error_${name}`]
    const top = TOP + i * 44, wide = 1 - (LEFT + RIGHT) / data.width
    const length = (data.width - LEFT - RIGHT) * (rate ?? 0)
    return `<text x="0" y="${top + 18}" font-weight="600">${escaped(name)}</text>
      <rect x="${LEFT}" y="${top + 4}" height="20" width="${length.toFixed(1)}" rx="3" fill="${data.colours[i]}"/>
      <text x="${(LEFT + length + 6).toFixed(1)}" y="${top + 19}">${percent(rate)} accepted</text>
      <text class="faint" x="${LEFT}" y="${top + 38}">${percent(error)} of those with outcome 1 refused</text>`
  })
  return `<svg viewBox="0 0 ${data.width} 98" height="98" role="img" aria-label="Accepted by group">${bars.join("")}</svg>`
}

const LINES = [
  ["accuracy", "right", ""],
  ["gap", "gap", "7 4"],
  ["largest_local_gap", "largest in a quarter", "2 3"],
]

function along(data, nearest, place) {
  const inner = data.width - LEFT - RIGHT, tall = HEIGHT - TOP - BOTTOM
  const last = Math.max(data.path.length - 1, 1)
  const x = (i) => LEFT + (inner * i) / last, y = (value) => TOP + tall * (1 - value)
  const ends = []
  const lines = LINES.map(([key, label, dash]) => {
    const points = data.path.map((stop, i) => [i, stop[key]]).filter(([, v]) => v !== null)
    if (!points.length) return ""
    ends.push([y(points.at(-1)[1]), label])
    const line = points.map(([i, v]) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ")
    const dots = points.map(([i, v]) =>
      `<circle cx="${x(i).toFixed(1)}" cy="${y(v).toFixed(1)}" r="${i === nearest ? 5 : 2.5}" fill="currentColor"/>`)
    return `<polyline points="${line}" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="${dash}"/>${dots.join("")}`
  })
  ends.sort((a, b) => a[0] - b[0])
  ends.forEach((end, i) => { if (i) end[0] = Math.max(end[0], ends[i - 1][0] + 14) })
  const labels = ends.map(([at, label]) =>
    `<text x="${LEFT + inner + 8}" y="${(at + 4).toFixed(1)}">${label}</text>`)
  const ticks = [0, 0.5, 1].map((v) =>
    `<line x1="${LEFT}" x2="${LEFT + inner}" y1="${y(v)}" y2="${y(v)}" stroke="currentColor" stroke-opacity=".15"/>
     <text class="faint" x="${LEFT - 6}" y="${y(v) + 4}" text-anchor="end">${percent(v)}</text>`)
  const marker = `<line x1="${x(place).toFixed(1)}" x2="${x(place).toFixed(1)}" y1="${TOP}" y2="${TOP + tall}"
    stroke="currentColor" stroke-width="1.5"/>`
  const feet = data.slider
    ? `<text class="faint" x="${LEFT}" y="${HEIGHT - 6}">${data.slider.stops[0]}</text>
       <text class="faint" x="${LEFT + inner}" y="${HEIGHT - 6}" text-anchor="end">${data.slider.stops.at(-1)}</text>`
    : ""
  return `<svg viewBox="0 0 ${data.width} ${HEIGHT}" height="${HEIGHT}" role="img"
    aria-label="Accuracy and gaps along the slider">${ticks.join("")}${lines.join("")}${marker}${labels.join("")}${feet}</svg>`
}

function redraw(state) {
  state.frame = 0
  const { data, root, input } = state
  state.place = +input.value / STEPS
  state.nearest = Math.round(state.place)
  input.style.setProperty("--share", `${(100 * input.value) / Math.max(input.max, 1)}%`)
  if (data.slider) {
    const stops = data.slider.stops, exact = Math.abs(state.place - state.nearest) < 0.01
    const low = stops[Math.floor(state.place)], high = stops[Math.ceil(state.place)]
    const text = exact ? `${stops[state.nearest]} (trained)` : `between ${low} and ${high}`
    state.output.textContent = text
    input.setAttribute("aria-valuetext", text)
  }
  drawPlane(state)
  const stop = data.path[state.nearest]
  data.width = Math.max(state.side.clientWidth, 260)
  root.querySelector(".words").textContent = data.words[state.nearest]
  root.querySelector(".rates").innerHTML = rates(data, stop)
  root.querySelector(".along").innerHTML = data.path.length > 1 ? along(data, state.nearest, state.place) : ""
}

function mount(root) {
  root.innerHTML = `<div class="grid"><div>
      <div class="plane"><canvas role="img" aria-label="People in the plane and the surface of the model"></canvas></div>
      <div class="hand"><div class="row"><label><span class="title"></span><output></output><input type="range"><span class="stops"></span></label>
        <button type="button" class="play" aria-pressed="false">Play</button></div></div>
      <p class="key"></p></div>
    <div class="side"><p class="words" aria-live="polite"></p><p class="head">Accepted</p><div class="rates"></div>
      <p class="head along-title">Along the slider</p><div class="along"></div></div></div>`
  const find = (selector) => root.querySelector(selector)
  return {
    root, canvas: find("canvas"), input: find("input"), output: find("output"),
    side: find(".side"), play: find(".play"), frame: 0, group: 0, playing: 0, told: null,
  }
}

function key(data) {
  const [a, b] = data.groups
  const parts = [`Round ${a}, square ${b}; filled: outcome 1. Tinted: accepted.`]
  if (data.shown.length > 1) parts.push("One line a group, in its colour.")
  if (data.ratio) parts.push("Larger: the method looks more closely there (weight r).")
  return parts.join(" ")
}

function play(state, soon) {
  const on = !state.playing
  cancelAnimationFrame(state.playing)
  state.playing = 0
  state.play.setAttribute("aria-pressed", on)
  state.play.textContent = on ? "Stop" : "Play"
  if (!on) return
  const most = +state.input.max, began = performance.now()
  const from = +state.input.value >= most ? 0 : +state.input.value
  const step = (now) => {
    const gone = ((now - began) / PLAY_MS) * most
    const value = Math.min(from + gone, most)
    state.input.value = still.matches ? Math.floor(value / STEPS) * STEPS : value
    soon()
    if (value >= most) return play(state, soon)
    state.playing = requestAnimationFrame(step)
  }
  state.playing = requestAnimationFrame(step)
}

const mounted = new WeakMap()

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".live_plane")
  if (!mounted.has(root)) mounted.set(root, mount(root))
  const state = mounted.get(root)
  const given = data instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(data)) : data
  if (state.told !== given.id) {
    state.told = given.id
    state.data = given
    state.grids = given.grids.map((stop) => stop.map(decode))
    const last = given.grids.length - 1
    Object.assign(state.input, { type: "range", min: 0, max: last * STEPS, step: 1, value: 0 })
    state.input.disabled = last === 0
    state.play.disabled = last === 0
    root.querySelector(".title").textContent = given.slider?.title ?? "No slider: one model"
    root.querySelector(".row label").title = given.slider?.help ?? ""
    root.querySelector(".along-title").hidden = last === 0
    root.querySelector(".key").textContent = key(given)
    root.querySelector(".stops").innerHTML = given.grids.map((_, i) =>
      `<i style="left:${(100 * i) / Math.max(last, 1)}%"></i>`).join("")
  }
  state.data.colours = given.colours
  state.truth = given.truth
  const soon = () => { state.frame ||= requestAnimationFrame(() => redraw(state)) }
  state.input.oninput = soon
  state.play.onclick = () => play(state, soon)
  redraw(state)
  state.watcher?.disconnect() // this is called anew at every change of the data
  state.watcher = new ResizeObserver(soon)
  state.watcher.observe(root)
  return () => {
    state.watcher.disconnect()
    cancelAnimationFrame(state.playing)
    state.playing = 0
  }
}
