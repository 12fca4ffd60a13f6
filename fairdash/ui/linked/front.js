// Accuracy against a gap: a line a value of τ through its λ for the method looked at,
// marks for other methods, the chosen setting ringed with its intervals and its seeds.
function frontPart(host) {
  const svg = d3.select(host)
  let x, y, box, moving, below = 0

  const shown = (view) => view.summary.settings
    .map((setting, place) => ({ setting, place }))
    .filter(({ place }) => view.value(place, view.gap) !== null
      && view.value(place, view.measures.accuracy) !== null)

  // the reader's own scores, where this measure is defined for them
  const ownShown = (view) => view.data.own
    .map((own, index) => ({ own, index }))
    .filter(({ own }) => own.metrics[view.gap.name] !== undefined
      && own.metrics.accuracy !== undefined)

  // those far from every setting stand on the edge, so that they press no picture
  const ownAt = (view, own) => [
    Math.min(Math.max(x(own.metrics[view.gap.name]), box.left), box.right),
    y(own.metrics.accuracy),
  ]

  const isOff = (view, { metrics }) => [[x, metrics[view.gap.name]], [y, metrics.accuracy]]
    .some(([scale, value]) => value < scale.domain()[0] || value > scale.domain()[1])

  function draw(view, colours, width, height) {
    svg.selectAll("*").remove()
    box = { left: 44, right: width - 10, top: 10, bottom: height - 34 }
    const marks = shown(view)
    if (marks.length || ownShown(view).length) drawAxes(view, marks, width, height)
    svg.append("g").attr("class", "lines")
    svg.append("g").attr("class", "marks")
    drawLines(view, colours)
    drawMarks(view, colours, marks)
    drawOwn(view, colours)
    moving = svg.append("g").attr("class", "moving")
    moving.append("line").attr("class", "whisker across")
    moving.append("line").attr("class", "whisker up")
    moving.append("g").attr("class", "seeds")
    moving.append("circle").attr("class", "halo").attr("r", 8)
    moving.append("circle").attr("class", "ring").attr("r", 9)
    moving.append("text").attr("class", "here").attr("text-anchor", "middle")
    move(view, colours)
    mark(view)
  }

  function drawAxes(view, marks, width, height) {
    scales(view, marks)
    const axes = svg.append("g")
    const xTicks = ticksOf(x, width < 420 ? 4 : 6), yTicks = ticksOf(y, 5)
    gridX(axes, x, xTicks, tickText(view.gap, xTicks), box)
    gridY(axes, y, yTicks, tickText(view.measures.accuracy, yTicks), box)
    const way = view.gap.better === "low" ? "(← fairer)" : "(fairer →)"
    const unit = view.gap.unit === "points" ? ", points" : ""
    axisTitle(axes, `${view.gap.label.toLowerCase()}${unit} ${way}`,
      (box.left + box.right) / 2, height - 4)
    if (view.data.limited === view.gap.name) limitLine(view)
    if (below) {
      svg.append("text").attr("class", "note").attr("x", box.right).attr("y", box.bottom - 6)
        .attr("text-anchor", "end").text(`${below} below, drawn on the edge`)
    }
  }

  function scales(view, marks) {
    const across = marks.map(({ place }) => view.value(place, view.gap))
    if (view.data.limited === view.gap.name) across.push(view.data.limit)
    const own = ownShown(view).map(({ own: { metrics } }) => metrics)
    across.push(...nearTo(across, own.map((metrics) => metrics[view.gap.name])))
    const [low, high] = extent(across)
    const span = Math.max(high - low, 0.01)
    const fromZero = view.gap.better === "low" && low < 0.45 * high
    x = d3.scaleLinear([fromZero ? 0 : low - 0.08 * span, high + 0.08 * span],
      [box.left, box.right])
    const accuracies = marks.map(({ place }) => view.value(place, view.measures.accuracy))
    const ownAccuracies = nearTo(accuracies, own.map(({ accuracy }) => accuracy))
    const least = Math.min(lowest(accuracies), ...ownAccuracies)
    const most = Math.max(...accuracies, ...ownAccuracies)
    const tall = Math.max(most - least, 0.005)
    y = d3.scaleLinear([least - 0.12 * tall, most + 0.16 * tall], [box.bottom, box.top])
    y.clamp(true) // settings far below stand on the lower edge, and are counted there
    below = accuracies.filter((accuracy) => accuracy < y.domain()[0]).length
  }

  // values that lie at most as far beyond others as these lie apart
  function nearTo(others, values) {
    const [low, high] = extent(others), span = Math.max(high - low, 0.01)
    return values.filter((value) => value >= low - span && value <= high + span)
  }

  // where the axis begins: a few settings that lost far more than most do not press the
  // others into a line
  function lowest(accuracies) {
    if (!accuracies.length) return Infinity // own scores alone
    const sorted = [...accuracies].sort((a, b) => b - a)
    const most = sorted[0], usual = sorted[Math.floor(0.7 * (sorted.length - 1))]
    return Math.max(sorted[sorted.length - 1], most - Math.max(2.5 * (most - usual), 0.02))
  }

  function limitLine(view) {
    const at = x(view.data.limit)
    svg.append("line").attr("class", "limit").attr("x1", at).attr("x2", at)
      .attr("y1", box.top).attr("y2", box.bottom)
    svg.append("text").attr("class", "note").attr("x", at + 4).attr("y", box.bottom - 5)
      .text(`limit ${worded(view.gap, view.data.limit)}`)
  }

  const at = (view, place) =>
    [x(view.value(place, view.gap)), y(view.value(place, view.measures.accuracy))]

  // one line for each value of the second axis, through all values of the first
  function drawLines(view, colours) {
    const lines = view.axes.length > 1
      ? view.axes[1].values.map((_, k) => linePlaces(view, k))
      : [{ k: 0, places: view.axes.length ? view.along(0) : [] }]
    const path = d3.line((place) => at(view, place)[0], (place) => at(view, place)[1])
    svg.select(".lines").selectAll("path").data(lines).join("path")
      .attr("data-k", (line) => line.k)
      .attr("stroke", (line) => lineStroke(view, colours, line.k))
      .attr("d", (line) => path(line.places.filter(
        (place) => view.value(place, view.gap) !== null)))
  }

  function linePlaces(view, k) {
    const places = view.axes[0].values.map((_, i) => {
      const at = [...view.setting.at]
      at[0] = i
      at[1] = k
      return view.placeAt(view.setting.method, at)
    })
    return { k, places }
  }

  const lineStroke = (view, colours, k) => (view.axes.length > 1
    ? view.lineColour(colours, [0, k])
    : view.methodColour(colours, view.method))

  function drawMarks(view, colours, marks) {
    const { summary, data } = view
    const fill = ({ setting }) => (setting.method === view.setting.method && view.axes.length > 1
      ? view.lineColour(colours, setting.at)
      : view.methodColour(colours, summary.methods[setting.method]))
    const path = ({ setting }) => {
      const own = setting.method === view.setting.method
      const kind = SYMBOLS[summary.methods[setting.method].symbol] ?? d3.symbolCircle
      return d3.symbol(kind, own ? 40 : 52)()
    }
    svg.select(".marks").selectAll("path").data(marks, ({ place }) => place).join("path")
      .attr("d", path)
      .attr("transform", ({ place }) => `translate(${at(view, place)})`)
      .attr("stroke", fill).attr("stroke-width", 1.5)
      .attr("fill", (mark) => (data.within[mark.place] ? fill(mark) : colours.paper))
      .attr("opacity", ({ place }) => (view.isQuiet(place) ? 0.4 : 1))
    const plain = summary.plain
    if (plain !== null && view.value(plain, view.gap) !== null) {
      const [px, py] = at(view, plain)
      svg.append("text").attr("class", "note").attr("x", px).attr("y", py - 9)
        .attr("text-anchor", px > box.right - 30 ? "end" : "middle").text("plain")
    }
  }

  // own scores are no setting: they have a mark, a name and intervals, but no ring
  function drawOwn(view, colours) {
    const layer = svg.append("g").attr("class", "own")
    for (const { own, index } of ownShown(view)) {
      const [px, py] = ownAt(view, own), colour = colours.categorical[own.colour]
      const whisker = (name, scale, low, high) => (own.intervals[name] ?? [])
        .map((end) => Math.min(Math.max(scale(end), low), high))
      const [left, right] = whisker(view.gap.name, x, box.left, box.right)
      const [down, up] = whisker("accuracy", y, box.top, box.bottom)
      const line = (x1, x2, y1, y2) => layer.append("line").attr("class", "whisker")
        .attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2).style("stroke", colour)
      if (left !== undefined) line(left, right, py, py)
      if (down !== undefined) line(px, px, down, up)
      layer.append("path").attr("class", "mark").attr("data-own", index)
        .attr("d", d3.symbol(ownSymbol(own), 90)())
        .attr("transform", `translate(${px},${py})`).attr("fill", colour)
      const rightward = px < (box.left + box.right) / 2
      layer.append("text").attr("class", "note").attr("x", px + (rightward ? 9 : -9)).attr("y", py - 7)
        .attr("text-anchor", rightward ? "start" : "end")
        .text(shortened(own.label, 24) + (isOff(view, own) ? ", off the scale" : ""))
    }
  }

  function move(view, colours) {
    const chosen = view.value(view.place, view.gap) !== null
    moving.attr("display", chosen ? null : "none")
    const line = view.axes.length > 1 ? view.setting.at[1] : 0
    svg.select(".lines").selectAll("path").classed("active", ({ k }) => k === line)
    if (!chosen) return
    const [px, py] = at(view, view.place), { intervals, seeds } = view.setting
    const ends = (name, scale, low, high) => (intervals[name] ?? [null, null])
      .map((end) => (end === null ? null : Math.min(Math.max(scale(end), low), high)))
    const [left, right] = ends(view.gap.name, x, box.left, box.right)
    const [down, up] = ends("accuracy", y, box.top, box.bottom)
    moving.select(".across").attr("display", left === null ? "none" : null)
      .attr("x1", left).attr("x2", right).attr("y1", py).attr("y2", py)
    moving.select(".up").attr("x1", px).attr("x2", px).attr("y1", down).attr("y2", up)
    const several = (seeds[view.gap.name] ?? []).length > 1
    const dots = several ? seeds.accuracy.map((v, i) => [x(seeds[view.gap.name][i]), y(v)])
      .filter(([across]) => across >= box.left && across <= box.right) : []
    moving.select(".seeds").selectAll("circle").data(dots).join("circle").attr("r", 3)
      .attr("cx", (d) => d[0]).attr("cy", (d) => d[1])
      .attr("fill", lineStroke(view, colours, line))
    moving.select(".ring").attr("cx", px).attr("cy", py)
    moving.select(".here").text("this model").attr("y", py < box.top + 24 ? py + 22 : py - 14)
      .attr("x", Math.min(Math.max(px, box.left + 34), box.right - 34))
  }

  function mark(view) {
    const { place } = view.hover
    const on = place !== null && view.value(place, view.gap) !== null
    const [px, py] = on ? at(view, place) : [0, 0]
    moving.select(".halo").attr("display", on ? null : "none").attr("cx", px).attr("cy", py)
  }

  // the setting, or own scores, nearest to the pointer, if near
  function under(view, [px, py]) {
    let best = null, least = 16 ** 2
    for (const { own, index } of ownShown(view)) {
      const [mx, my] = ownAt(view, own), far = (mx - px) ** 2 + (my - py) ** 2
      if (far < least) [best, least] = [{ own: index }, far]
    }
    for (const { place } of shown(view)) {
      const [mx, my] = at(view, place), far = (mx - px) ** 2 + (my - py) ** 2
      if (far < least) [best, least] = [{ place }, far]
    }
    return best
  }

  // below the title, where there is no mark: that no setting decides, and what to do
  const note = (view) => view.data.none_decides

  const title = (view) => `Accuracy against the ${view.gap.label.toLowerCase()}`

  const words = (view) => {
    const { label, metrics } = view.setting
    if (note(view)) return `${title(view)}: no settings. ${note(view)}`
    return `${title(view)}: ${shown(view).length} settings. ${label}: accuracy `
      + `${worded(view.measures.accuracy, metrics.accuracy)}, `
      + `${view.gap.label.toLowerCase()} ${worded(view.gap, metrics[view.gap.name])}.`
      + ownShown(view).map(({ own }) => ` Own scores ${describeOwn(view, own).join(", ")}.`).join("")
  }

  const hint = (view, { own }) => [...describeOwn(view, view.data.own[own]), "own scores, not a setting"]

  return { draw, move, mark, under, hint, title, note, words }
}
