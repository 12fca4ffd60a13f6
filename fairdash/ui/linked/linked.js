// One hand, linked pictures: data in, events out. Whatever the hand does, every picture
// is of the same setting at once; the server hears of it when the hand lets go.
const LOOK_MS = 250 // between two looks where the server stands, and at the theme
const ANSWER_MS = 5000 // until the server has repeated what it was told on release
const SETTLE_MS = 60 // after the last key or click
const FEW = 2 // pictures that stand beside the controls in one row
const STAGE_REST = 230 // px of the window for a caption and what stands below the pictures
const PARTS = {
  front: { make: frontPart, height: 236 },
  map: { make: mapPart, height: 236 },
  local: { make: localPart, height: 232 },
  density: { make: densityPart, height: 232 },
  tau: { make: alongPart(1), height: 220 },
  lambda: { make: alongPart(0), height: 220 },
  quantiles: { make: quantilesPart, height: 240 },
}

async function read(bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))
  return new Response(packed).json()
}

class Linked {
  constructor(root, data, place, emit) {
    this.root = root
    this.emit = emit
    this.view = new View(data)
    this.view.place = place
    this.frames = 0
    this.isHeld = false
    this.colours = coloursOf(root, data.palette)
    d3.select(root).selectAll("*").remove()
    this.controls = controlsPart(this.append("div", "controls"), this.view, this)
    this.figures = data.shows.filter((name) => PARTS[name]).map((name) => this.figure(name))
    this.tip = d3.select(this.append("div", "tip")).attr("aria-hidden", "true").node()
    this.speech = d3.select(this.append("p", "said")).attr("aria-live", "polite").node()
    this.watcher = new ResizeObserver(() => this.resize())
    this.watcher.observe(root)
    // who goes elsewhere at once, by Escape or a click, takes the last setting along
    this.leaving = (event) => { if (!event.key?.startsWith("Arrow")) this.tell() }
    for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, this.leaving, true)
    this.resize()
  }

  append(tag, name) { return d3.select(this.root).append(tag).attr("class", name).node() }

  figure(name) {
    const figure = d3.select(this.root).append("figure").attr("class", `part ${name}`)
    const caption = figure.append("figcaption")
    caption.append("b")
    caption.append("span")
    if (name === "front") figure.append("div").attr("class", "legend").attr("aria-hidden", "true")
    const host = figure.append("svg").node()
    const part = PARTS[name].make(host)
    // keys choose on the map: it is a control, others are pictures
    d3.select(host).attr("role", part.keys ? "application" : name === "local" ? "group" : "img")
    if (part.keys) d3.select(host).attr("tabindex", 0).on("keydown", (event) => this.key(event))
    const each = { name, part, host, figure }
    host.onpointermove = (event) => this.hover(each, event)
    host.onpointerleave = () => this.leave()
    host.onclick = (event) => this.click(each, event)
    if (name === "local") {
      host.onkeydown = (event) => this.rowKey(event)
      host.onfocusin = (event) => this.point({ subgroup: rowOf(event) })
      host.onfocusout = () => this.leave()
    }
    return each
  }

  resize() {
    const width = this.root.clientWidth
    if (!width || width === this.width) return
    this.width = width
    this.scale = width < NARROW ? 1 : this.view.data.scale
    this.root.classList.toggle("narrow", width < NARROW)
    this.root.classList.toggle("stage", this.scale > 1)
    this.root.classList.toggle("few", width >= NARROW && this.figures.length <= FEW)
    this.draw()
  }

  // on the stage a picture is as high as the window leaves room for
  heightOf(name) {
    const { height } = PARTS[name]
    if (this.scale === 1) return height
    const room = innerHeight - this.root.getBoundingClientRect().top - STAGE_REST
    return Math.min(Math.max(room / this.scale, height), 2 * height)
  }

  draw() {
    const { view, colours } = this
    this.drawn = `${view.setting.method}`
    for (const { name, part, host, figure } of this.figures) {
      const there = part.exists?.(view) ?? true
      figure.attr("hidden", there ? null : "")
      if (!there) continue
      if (name === "front") this.legend(figure)
      const legend = figure.select(".legend").node()?.offsetHeight ?? 0
      const width = Math.max(host.parentElement.clientWidth / this.scale, 220)
      const height = this.heightOf(name) - legend / this.scale
      d3.select(host).attr("viewBox", `0 0 ${width} ${height}`)
        .attr("width", width * this.scale).attr("height", height * this.scale)
      part.draw(view, colours, width, height)
      host.setAttribute("aria-label", part.words(view)) // later ones wait until the hand rests
    }
    this.captions()
    this.speak()
  }

  captions(moved = false) {
    for (const { part, figure } of this.figures) {
      if (moved && !part.titleMoves) continue
      figure.select("figcaption b").text(part.title(this.view))
      figure.select("figcaption span").text(part.note?.(this.view) ?? "")
    }
  }

  legend(figure) {
    const { view, colours } = this, { methods, settings } = view.summary
    const legend = figure.select(".legend").html("")
    const entry = (colour, symbol, text) => {
      const item = legend.append("span")
      item.append("svg").attr("width", 12).attr("height", 12).attr("viewBox", "-6 -6 12 12")
        .append("path").attr("d", d3.symbol(symbol, 60)()).attr("fill", colour)
      item.append("span").text(text)
    }
    if (view.axes.length > 1) {
      legend.append("span").text(`${view.method.label} ${view.axes[1].letter || view.axes[1].title}`)
      view.axes[1].values.forEach((value, k) => {
        entry(view.lineColour(colours, [0, k]), d3.symbolCircle, value)
      })
    }
    methods.forEach((method, m) => {
      if (m === view.setting.method && view.axes.length > 1) return
      if (m === view.plain?.method) return // its mark says so itself
      if (!settings.some((setting) => setting.method === m && !setting.alike)) return
      entry(view.methodColour(colours, method), SYMBOLS[method.symbol] ?? d3.symbolCircle, method.label)
    })
    for (const own of view.data.own) {
      entry(colours.categorical[own.colour], ownSymbol(own), shortened(own.label, 24))
    }
  }

  // all pictures of the setting that the hand is at, in the next frame
  go(place) {
    if (place === undefined) return
    this.view.place = place
    this.move()
  }

  move() {
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0
      const { view, colours } = this
      this.frames += 1
      this.controls.update()
      if (this.drawn !== `${view.setting.method}`) { this.draw(); return }
      for (const { part } of this.figures) if (part.exists?.(view) ?? true) part.move(view, colours)
      this.captions(true)
      this.speak()
    })
  }

  hold(held) { this.isHeld = held }
  held() { return this.isHeld }

  // let go: the server is told, after the last of several keys
  settle() {
    clearTimeout(this.settling)
    this.settling = setTimeout(() => this.tell(), SETTLE_MS)
  }

  tell() {
    if (!this.settling) return
    clearTimeout(this.settling)
    this.settling = 0
    if (this.view.place === this.told) return
    this.told = this.view.place
    this.until = Date.now() + ANSWER_MS
    this.emit("place", this.view.place)
  }

  measure(name) {
    this.view.look(name)
    this.draw()
    this.emit("measure", name)
  }

  key(event) {
    const steps = { ArrowLeft: [1, -1], ArrowRight: [1, 1], ArrowUp: [0, 1], ArrowDown: [0, -1] }
    const step = steps[event.key]
    const { view } = this, axes = view.gridAxes
    if (!step || !axes.length) return
    event.preventDefault()
    const axis = Math.min(step[0], axes.length - 1), at = [...view.gridAt]
    at[axis] = Math.min(Math.max(at[axis] + step[1], 0), axes[axis].values.length - 1)
    this.go(view.nearest(at))
    this.settle()
  }

  rowKey(event) {
    const subgroup = rowOf(event)
    if (subgroup === null || (event.key !== "Enter" && event.key !== " ")) return
    event.preventDefault()
    this.open(subgroup)
  }

  open(subgroup) {
    if (this.view.data.opens) this.emit("subgroup", subgroup)
  }

  hover({ part, host }, event) {
    const under = part.under(this.view, at(host, event))
    if (!under) { this.leave(); return }
    this.point(under)
    const lines = under.place === undefined
      ? part.hint(this.view, under) : describe(this.view, under.place)
    const tip = d3.select(this.tip)
    tip.selectAll("div").data(lines).join("div").text((line) => line)
    const box = this.root.getBoundingClientRect()
    const left = event.clientX - box.left + 14
    const over = left + 240 > box.width ? Math.max(left - 270, 0) : left
    tip.classed("on", true).style("left", `${over}px`).style("top", `${event.clientY - box.top + 14}px`)
  }

  // the same thing is marked in every picture
  point({ place = null, subgroup = null }) {
    const { hover } = this.view
    if (hover.place === place && hover.subgroup === subgroup) return
    this.view.hover = { place, subgroup }
    for (const { part } of this.figures) if (part.exists?.(this.view) ?? true) part.mark(this.view)
  }

  leave() {
    d3.select(this.tip).classed("on", false)
    this.point({})
  }

  click({ part, host }, event) {
    const under = part.under(this.view, at(host, event))
    if (!under) return
    if (under.subgroup !== undefined) {
      if (part.hint && host.closest(".local")) this.open(under.subgroup)
      return
    }
    if (under.place === undefined) return
    this.controls.stop()
    this.go(under.place)
    this.settle()
  }

  speak() {
    clearTimeout(this.speaking)
    this.speaking = setTimeout(() => {
      const { view } = this
      for (const { part, host } of this.figures) {
        if (part.exists?.(view) ?? true) host.setAttribute("aria-label", part.words(view))
      }
      const cards = (view.data.values[view.place] ?? []).map(({ value }, i) => `${view.data.cards[i].label} ${value}`)
      this.speech.textContent = [view.setting.label, ...cards].join(", ")
    }, 400)
  }

  // the server may have gone elsewhere, and the reader may have changed the theme
  look(data) {
    const colours = coloursOf(this.root, data.palette)
    if (colours.paper !== this.colours.paper) {
      this.colours = colours
      this.draw()
    }
    const start = document.querySelector(".fairdash-place")?.textContent ?? ""
    const place = start === "" ? null : +start
    if (place === null || start === this.seen) return
    if (place === this.told) this.until = 0
    else if (this.isHeld || this.settling || this.controls.isPlaying() || this.waits()) return
    else this.go(place)
    this.seen = start
    this.told = place
  }

  // for the answer to what was told: a busy server first repeats earlier settings
  waits() {
    const runs = document.querySelector("[data-test-script-state=running]")
    if (this.until && (runs || Date.now() < this.until)) return true
    this.until = 0
    return false
  }

  end() {
    this.watcher.disconnect()
    for (const kind of ["keydown", "pointerdown"]) removeEventListener(kind, this.leaving, true)
    this.controls.stop()
    clearTimeout(this.speaking)
    clearTimeout(this.settling)
  }
}

const at = (host, event) => {
  const box = host.getBoundingClientRect(), { width } = host.viewBox.baseVal
  const scale = box.width / width
  return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale]
}

function rowOf(event) {
  const row = event.target.closest("[data-subgroup]")
  return row ? +row.dataset.subgroup : null
}

const mounted = new WeakMap()

// draw the data that have come, at the setting that was looked at
function put(state, root, emit, start) {
  const { coming: data, linked: before } = state
  if (!data) return
  state.coming = null
  state.data = data
  const label = before?.view.setting.label
  const same = data.summary.settings.findIndex((setting) => setting.label === label)
  const playing = before?.controls.playing() ?? null
  const moved = before && before.settling && before.view.place !== before.told
  before?.end()
  state.linked = new Linked(root, data, same < 0 ? start : same, emit)
  if (playing !== null) state.linked.controls.play(playing)
  else if (moved && same >= 0) state.linked.settle()
}

export default function ({ data: bytes, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".linked")
  const state = mounted.get(root) ?? { bytes: null, linked: null }
  mounted.set(root, state)
  const start = () => +(document.querySelector(".fairdash-place")?.textContent || 0)
  const emit = (name, value) => {
    if (name !== "place") setTriggerValue(name, value)
    else if (!state.coming) setStateValue("place", value)
    else { // the server counts places by the data that have come
      put(state, root, emit, start())
      state.linked.settle()
    }
  }
  const fresh = bytes.length !== state.bytes?.length || bytes.some((b, i) => b !== state.bytes[i])
  if (fresh) {
    state.bytes = bytes
    // of a sweep that grows: what a hand holds is not taken from it
    read(bytes).then((data) => { if (state.bytes === bytes) state.coming = data })
      .then(() => { if (!state.linked && root.isConnected) put(state, root, emit, start()) })
  } else if (state.linked) state.linked.emit = emit
  clearInterval(state.watcher) // this is called anew at every change of the data
  state.watcher = setInterval(() => {
    if (!state.linked || !root.isConnected) return
    if (state.coming && !state.linked.held()) put(state, root, emit, start())
    state.linked.look(state.data)
  }, LOOK_MS)
  return () => {
    clearInterval(state.watcher)
    state.linked?.end()
  }
}
