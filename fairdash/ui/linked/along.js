// The measure along one axis through the chosen setting: mean, spread over seeds, the
// plain model dashed and what chance alone would show grey.
function alongPart(axis) {
  return function part(host) {
    const svg = d3.select(host)
    let x, y, box

    const exists = (view) => view.axes.length > axis
    const own = (view) => view.summary.settings
      .map((setting, place) => ({ setting, place }))
      .filter(({ setting }) => setting.method === view.setting.method)

    function draw(view, colours, width, height) {
      svg.selectAll("*").remove()
      if (!exists(view)) return
      const { measure } = view
      box = { left: 44, right: width - 10, top: 10, bottom: height - 34 }
      const values = own(view).flatMap(({ setting, place }) => (setting.alike
        ? [] : [view.value(place), ...(setting.seeds[measure.name] ?? [])]))
      const plain = view.plain?.metrics[measure.name] ?? null
      const whole = wholeGap(view) ? own(view).map(({ place }) => view.value(place, view.measures[GAP])) : []
      const [low, high] = extent([...values, plain, ...whole])
      const floor = measure.gap && measure.better === "low"
      const span = Math.max(high - low, 0.01)
      y = d3.scaleLinear([floor ? 0 : low - 0.08 * span, high + 0.1 * span], [box.bottom, box.top])
      const places = view.axes[axis].values.map((_, k) => k)
      x = d3.scalePoint(places, [box.left, box.right]).padding(0.4)
      const ticks = ticksOf(y, 4)
      gridY(svg, y, ticks, tickText(measure, ticks), box)
      view.axes[axis].values.forEach((value, k) => {
        svg.append("text").attr("class", "tick").attr("x", x(k)).attr("y", box.bottom + 15)
          .attr("text-anchor", "middle").text(shortened(value, 8))
      })
      axisTitle(svg, view.axes[axis].title.toLowerCase(), (box.left + box.right) / 2, height - 4)
      svg.append("rect").attr("class", "chance").attr("x", box.left).attr("width", box.right - box.left)
      svg.append("path").attr("class", "band")
      svg.append("path").attr("class", "whole")
      svg.append("path").attr("class", "curve")
      svg.append("g").attr("class", "points")
      if (plain !== null) plainLine(plain)
      svg.append("circle").attr("class", "halo").attr("r", 8)
      move(view, colours)
      mark(view)
    }

    const wholeGap = (view) => view.measure.name === WORST

    function plainLine(plain) {
      svg.append("line").attr("class", "plain").attr("x1", box.left).attr("x2", box.right)
        .attr("y1", y(plain)).attr("y2", y(plain))
      svg.append("text").attr("class", "note").attr("x", box.right).attr("y", y(plain) - 5)
        .attr("text-anchor", "end").text("plain model")
    }

    function move(view, colours) {
      if (!exists(view)) return
      const { measure } = view, colour = view.methodColour(colours, view.method)
      const points = view.along(axis).map((place, k) => ({ place, k, value: view.value(place) }))
        .filter(({ value }) => value !== null)
      const seeds = ({ place }) => view.summary.settings[place].seeds[measure.name] ?? []
      const curve = d3.line((p) => x(p.k), (p) => y(p.value))
      svg.select(".curve").attr("d", curve(points)).attr("stroke", colour)
      const spread = points.filter((p) => seeds(p).length > 1)
      const band = d3.area().x((p) => x(p.k))
        .y0((p) => y(Math.min(...seeds(p)))).y1((p) => y(Math.max(...seeds(p))))
      svg.select(".band").attr("d", spread.length > 1 ? band(spread) : null).attr("fill", colour)
      const gap = view.measures[GAP]
      const whole = d3.line((p) => x(p.k), (p) => y(view.value(p.place, gap)))
      svg.select(".whole").attr("d", wholeGap(view) ? whole(points) : null)
      svg.select(".points").selectAll("circle").data(points).join("circle")
        .attr("cx", (p) => x(p.k)).attr("cy", (p) => y(p.value)).attr("fill", colour)
        .attr("r", (p) => (p.place === view.place ? 6 : 3.5))
      const { chance } = view.setting
      const floor = wholeGap(view) && chance !== null ? Math.max(y(chance), box.top) : box.bottom
      svg.select(".chance").attr("y", floor).attr("height", box.bottom - floor)
    }

    function mark(view) {
      const k = exists(view) && view.hover.place !== null
        ? view.along(axis).indexOf(view.hover.place) : -1
      const value = k < 0 ? null : view.value(view.hover.place)
      svg.select(".halo").attr("display", value === null ? "none" : null)
      if (value !== null) svg.select(".halo").attr("cx", x(k)).attr("cy", y(value))
    }

    function under(view, [px, py]) {
      if (!exists(view)) return null
      const near = view.along(axis).map((place, k) => ({ place, far: Math.abs(x(k) - px) }))
        .filter(({ place }) => place !== undefined)
        .sort((a, b) => a.far - b.far)[0]
      return near && near.far < 24 && py < box.bottom ? { place: near.place } : null
    }

    const title = (view) => {
      if (!exists(view)) return ""
      const name = ({ letter, title }) => letter || title.toLowerCase()
      const others = view.axes.map((other, i) => (i === axis ? "" : `${name(other)} ${other.values[view.setting.at[i]]}`))
      return `Along ${name(view.axes[axis])}${others.some(Boolean) ? ` at ${others.filter(Boolean).join(", ")}` : ""}`
    }

    const words = (view) => {
      if (!exists(view)) return ""
      const said = view.along(axis).map((place, k) => `${view.axes[axis].values[k]}: ${worded(view.measure, view.value(place))}`)
      return `${title(view)}, ${view.measure.label.toLowerCase()} at ${said.join(", ")}.`
    }

    const note = (view) => (wholeGap(view) ? "dotted: gap over all rows; grey: chance alone" : "")

    return { draw, move, mark, under, title, words, note, exists, titleMoves: true }
  }
}
