// What all pictures share: numbers as Python writes them, colours of the theme, axes,
// and the setting that everything shows. No text of a table is ever read as markup: it
// goes into the page as text.
const TAU_SCALE = {
  // dark to light on white, light to dark on black: its lightness alone tells τ
  light: ["#0b2e4f", "#14566f", "#1e7b7c", "#4a935f", "#7f9a2e"],
  dark: ["#f1f2a0", "#a9de8b", "#5fc39a", "#3fa3a8", "#4c83a8"],
}
const SYMBOLS = {
  "square": d3.symbolSquare,
  "triangle-up": d3.symbolTriangle,
  "diamond": d3.symbolDiamond,
  "star": d3.symbolStar,
  "cross": d3.symbolCross,
  "x": d3.symbolTimes,
}
const GAP = "demographic_parity_difference"
const WORST = "worst_1_di"
const NARROW = 700 // px of the component, below which pictures stack

// as Python rounds: a number that lies in the middle goes to the even one
function fixed(value, digits) {
  const scale = 10 ** digits
  const whole = Math.floor(value * scale)
  const tie = value * scale - whole === 0.5
  return tie ? ((whole + (whole % 2 ? 1 : 0)) / scale).toFixed(digits) : value.toFixed(digits)
}

const typeset = (text) => text.replace("-", "−")

// a value as the cards write that measure, or shorter in a cell of the map
function worded(measure, value, short = false) {
  if (value === null || value === undefined) return "–"
  if (measure.unit === "number") return typeset(fixed(value, short ? 2 : 3))
  const text = fixed(100 * value, short ? 0 : 1)
  if (measure.unit === "percent") return `${text}%`
  return short ? text : `${text} pt`
}

function betweenColours(scale, share) {
  const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1)
  const low = Math.min(Math.floor(at), scale.length - 2)
  const channel = (colour, k) => parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16)
  const mixed = [0, 1, 2].map((k) => {
    const [a, b] = [channel(scale[low], k), channel(scale[low + 1], k)]
    return Math.round(a + (at - low) * (b - a))
  })
  return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`
}

function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const readable = (colour) => (luminance(colour) > 0.22 ? "#0e1519" : "#ffffff")

// black or white text has at least 4.5:1 on every colour of the scales: see the test
function coloursOf(root, palette) {
  const style = getComputedStyle(root)
  const paper = style.getPropertyValue("--st-background-color").trim() || "#ffffff"
  const theme = luminance(paper) > 0.4 ? "light" : "dark"
  const { categorical, sequential } = palette[theme]
  return {
    theme,
    paper,
    ink: style.getPropertyValue("--st-text-color").trim() || "#0e1519",
    plain: categorical[4],
    categorical,
    sequential,
    groups: palette[theme].groups,
    tau: TAU_SCALE[theme],
  }
}

// the settings of the data, and the one that all pictures show
class View {
  constructor(data) {
    this.data = data
    this.summary = data.summary
    this.measures = Object.fromEntries(data.measures.map((m) => [m.name, m]))
    this.measure = this.measures[data.measure]
    this.gap = this.measure.gap ? this.measure : this.measures[WORST]
    this.places = new Map()
    this.summary.settings.forEach((setting, place) => {
      this.places.set(`${setting.method} ${setting.at.join()}`, place)
    })
    this.hover = { place: null, subgroup: null }
  }

  get setting() { return this.summary.settings[this.place] }
  get method() { return this.summary.methods[this.setting.method] }
  get axes() { return this.method.axes }
  get plain() {
    const { plain, settings } = this.summary
    return plain === null ? null : settings[plain]
  }

  // whose grid the map shows: the method's own, or where it has none the first one's
  get gridMethod() {
    if (this.axes.length) return this.setting.method
    const first = this.summary.methods.findIndex(({ axes }) => axes.length > 0)
    return first < 0 ? this.setting.method : first
  }
  get gridAxes() { return this.summary.methods[this.gridMethod].axes }
  get gridAt() { return this.axes.length ? this.setting.at : this.gridAxes.map(() => 0) }

  look(measure) {
    this.measure = this.measures[measure]
    if (this.measure.gap) this.gap = this.measure
  }

  placeAt(method, at) { return this.places.get(`${method} ${at.join()}`) }

  // the place at these values of the method's axes, or of the nearest trained setting
  nearest(at) {
    const exact = this.placeAt(this.gridMethod, at)
    if (exact !== undefined) return exact
    const far = (place) => {
      const other = this.summary.settings[place].at
      return other.reduce((sum, v, i) => sum + (v - at[i]) ** 2, 0)
    }
    const own = [...this.places.values()].filter(
      (place) => this.summary.settings[place].method === this.gridMethod)
    return own.reduce((best, place) => (far(place) < far(best) ? place : best))
  }

  // places along one axis through the chosen setting; undefined where none was trained
  along(axis) {
    return this.axes[axis].values.map((_, k) => {
      const at = [...this.setting.at]
      at[axis] = k
      return this.placeAt(this.setting.method, at)
    })
  }

  value(place, measure = this.measure) {
    if (place === undefined || place === null) return null
    const setting = this.summary.settings[place]
    return setting.alike ? null : setting.metrics[measure.name] ?? null
  }

  isQuiet(place) {
    const { quiet } = this.summary.settings[place]
    return quiet[this.gap.name === GAP ? GAP : WORST]
  }

  // the axis whose values are lines of the front: the second one, else none
  lineColour(colours, at) {
    const n = this.axes[1].values.length
    return betweenColours(colours.tau, n > 1 ? at[1] / (n - 1) : 0)
  }

  methodColour(colours, method) { return colours.categorical[method.colour] }
}

function extent(values) {
  const finite = values.filter((v) => v !== null && Number.isFinite(v))
  return finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1]
}

// ticks of a share in whole points, or of a number
function ticksOf(scale, n) {
  return scale.ticks(n).filter((tick) => {
    const [low, high] = scale.domain()
    return tick >= low - 1e-9 && tick <= high + 1e-9
  })
}

function tickText(measure, ticks) {
  if (measure.unit === "number") return ticks.map((v) => String(+v.toFixed(3)))
  const fine = ticks.some((v) => Math.abs(100 * v - Math.round(100 * v)) > 1e-6)
  const end = measure.unit === "percent" ? "%" : ""
  return ticks.map((v) => `${(100 * v).toFixed(fine ? 1 : 0)}${end}`)
}

function gridX(layer, scale, ticks, texts, { top, bottom }) {
  for (const [i, tick] of ticks.entries()) {
    const x = scale(tick)
    layer.append("line").attr("class", "grid").attr("x1", x).attr("x2", x)
      .attr("y1", top).attr("y2", bottom)
    layer.append("text").attr("class", "tick").attr("x", x).attr("y", bottom + 15)
      .attr("text-anchor", "middle").text(texts[i])
  }
}

function gridY(layer, scale, ticks, texts, { left, right }) {
  for (const [i, tick] of ticks.entries()) {
    const y = scale(tick)
    layer.append("line").attr("class", "grid").attr("x1", left).attr("x2", right)
      .attr("y1", y).attr("y2", y)
    layer.append("text").attr("class", "tick").attr("x", left - 6).attr("y", y + 4)
      .attr("text-anchor", "end").text(texts[i])
  }
}

function axisTitle(layer, text, x, y) {
  layer.append("text").attr("class", "axis").attr("x", x).attr("y", y)
    .attr("text-anchor", "middle").text(text)
}

// what fills mean, in as many lines as they need; returns the height of these
function keys(svg, fills, width) {
  const line = 16
  let left = 6, middle = 8
  for (const [fill, text] of fills) {
    const key = svg.append("g").attr("class", "fill_key")
    const words = key.append("text").attr("class", "tick").attr("x", 8).attr("y", 4).text(text)
    const wide = 22 + words.node().getComputedTextLength()
    if (left > 6 && left + wide - 12 > width) {
      left = 6
      middle += line
    }
    key.append("circle").attr("class", "fill").attr("r", 4.5).attr("fill", fill)
    key.attr("transform", `translate(${left},${middle})`)
    left += wide
  }
  return fills.length ? middle + line / 2 : 0
}

// a long name keeps its beginning and its end, the whole stands in its title
function shortened(text, most) {
  const letters = [...text]
  if (letters.length <= most) return text
  const head = Math.ceil((most - 1) / 2)
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`
}

// a measure with its interval, as a line of a tip
function measured(view, name, value, ends) {
  const measure = view.measures[name], digits = measure.unit === "number" ? 3 : 1
  const scale = measure.unit === "number" ? 1 : 100
  const between = ends && ends.every((end) => end !== null)
    ? ` (${ends.map((end) => fixed(scale * end, digits)).join("–")})` : ""
  return `${measure.label} ${worded(measure, value)}${between}`
}

const shownMeasures = (view) => [...new Set(["accuracy", view.gap.name, view.measure.name])]

function describe(view, place) {
  const { label, alike, metrics, intervals } = view.summary.settings[place]
  if (alike) return [label, `${alike}: its gaps say nothing`]
  const lines = shownMeasures(view).map((name) => measured(view, name, metrics[name], intervals[name]))
  return [label, ...lines, ...(view.isQuiet(place) ? ["not told from the plain model"] : [])]
}

const describeOwn = (view, { label, metrics, intervals }) => [label, ...shownMeasures(view)
  .filter((name) => metrics[name] !== undefined)
  .map((name) => measured(view, name, metrics[name], intervals[name]))]

const ownSymbol = ({ symbol }) => SYMBOLS[symbol] ?? d3.symbolStar
