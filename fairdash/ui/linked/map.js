// A measure over the grid: rows of λ, columns of τ, numbers in cells. A method with a
// third axis has a map for each of its values, one with a single axis has one row.
function mapPart(host) {
  const svg = d3.select(host)
  let moving, rectangles

  function facets(view) {
    const third = view.gridAxes[2]
    if (!third) return [{ label: "", at: [] }]
    return third.values.map((value, k) => ({ label: `${third.letter || third.title} ${value}`, at: [k] }))
  }

  function cellsOf(view, facet) {
    const [rows, columns] = [view.gridAxes[0], view.gridAxes[1]]
    const cells = []
    rows.values.forEach((_, i) => {
      (columns?.values ?? [""]).forEach((_, j) => {
        const at = [...view.gridAt]
        at[0] = i
        if (columns) at[1] = j
        if (facet.at.length) at[2] = facet.at[0]
        cells.push({ i, j, at, place: view.placeAt(view.gridMethod, at) })
      })
    })
    return cells
  }

  function draw(view, colours, width, height) {
    svg.selectAll("*").remove()
    rectangles = []
    if (!view.gridAxes.length) return
    const turned = view.gridAxes.length === 1 // a single axis lies across
    const every = facets(view), [low, high] = range(view)
    const name = (axis) => axis.letter || axis.title
    const left = turned ? 8 : 46, top = every.length > 1 ? 20 : 4, bottom = height - 34
    const wide = (width - left - 4) / every.length
    const across = turned ? view.gridAxes[0] : view.gridAxes[1]
    every.forEach((facet, f) => {
      const x = d3.scaleBand(across.values.map((_, k) => k),
        [left + f * wide, left + (f + 1) * wide - (every.length > 1 ? 8 : 0)]).padding(0.04)
      const y = d3.scaleBand(turned ? [0] : view.gridAxes[0].values.map((_, k) => k),
        [bottom, top]).padding(0.05)
      if (facet.label) {
        svg.append("text").attr("class", "axis").attr("x", x(0)).attr("y", 13).text(facet.label)
      }
      for (const cell of cellsOf(view, facet)) {
        const box = turned
          ? { x: x(cell.i), y: y(0), w: x.bandwidth(), h: y.bandwidth() }
          : { x: x(cell.j), y: y(cell.i), w: x.bandwidth(), h: y.bandwidth() }
        rectangles.push({ ...cell, ...box })
      }
      labels(view, x, y, { turned, left, bottom, first: f === 0 })
    })
    drawCells(view, colours, [low, high])
    const columns = across.letter ? across.title : name(across)
    axisTitle(svg.append("g"), columns.toLowerCase(), (left + width) / 2, height - 4)
    moving = svg.append("g")
    moving.append("rect").attr("class", "hovered")
    moving.append("rect").attr("class", "chosen")
    move(view)
    mark(view)
  }

  function labels(view, x, y, { turned, left, bottom, first }) {
    const across = turned ? view.gridAxes[0] : view.gridAxes[1]
    across.values.forEach((value, k) => {
      svg.append("text").attr("class", "tick").attr("x", x(k) + x.bandwidth() / 2)
        .attr("y", bottom + 15).attr("text-anchor", "middle").text(shortened(value, 8))
    })
    if (turned || !first) return
    const letter = view.gridAxes[0].letter
    view.gridAxes[0].values.forEach((value, k) => {
      svg.append("text").attr("class", "tick").attr("x", left - 6)
        .attr("y", y(k) + y.bandwidth() / 2 + 4).attr("text-anchor", "end")
        .text(shortened(letter ? `${letter} ${value}` : value, 8))
    })
  }

  // of all settings of the method, so that a colour means the same in every map
  function range(view) {
    const own = view.summary.settings
      .map((setting, place) => (setting.method === view.gridMethod ? view.value(place) : null))
    const [low, high] = extent(own)
    const fromZero = view.measure.gap && view.measure.better === "low"
    return [fromZero ? Math.min(low, 0.5 * high) : low, high]
  }

  function drawCells(view, colours, [low, high]) {
    const shade = (value) => betweenColours(colours.sequential.slice(1),
      (value - low) / Math.max(high - low, 1e-9))
    const fits = rectangles.length && rectangles[0].w > 26 && rectangles[0].h > 13
    for (const cell of rectangles) {
      const value = view.value(cell.place)
      const fill = value === null ? "none" : shade(value)
      const drawn = svg.append("rect").attr("x", cell.x).attr("y", cell.y)
        .attr("width", cell.w).attr("height", cell.h).attr("rx", 2).attr("fill", fill)
      if (value === null) drawn.attr("class", cell.place === undefined ? "absent" : "alike")
      if (!fits || cell.place === undefined) continue
      const quiet = value !== null && view.isQuiet(cell.place)
      svg.append("text").attr("x", cell.x + cell.w / 2).attr("y", cell.y + cell.h / 2 + 4)
        .attr("text-anchor", "middle").attr("class", value === null ? "cell none" : "cell")
        .attr("font-weight", quiet ? 400 : 650)
        .style("fill", value === null ? null : readable(fill))
        .text(view.summary.settings[cell.place].idle || worded(view.measure, value, true))
    }
  }

  const outline = (name, cell) => {
    const drawn = moving.select(name).attr("display", cell ? null : "none")
    if (cell) {
      drawn.attr("x", cell.x - 1).attr("y", cell.y - 1).attr("rx", 3)
        .attr("width", cell.w + 2).attr("height", cell.h + 2)
    }
  }

  function move(view) {
    if (view.gridAxes.length) outline(".chosen", rectangles.find(({ place }) => place === view.place))
  }

  function mark(view) {
    const { place } = view.hover
    const cell = rectangles.find((each) => place !== null && each.place === place)
    if (view.gridAxes.length) outline(".hovered", cell)
  }

  const under = (view, [px, py]) => rectangles.find((cell) => cell.place !== undefined
    && px >= cell.x && px <= cell.x + cell.w && py >= cell.y && py <= cell.y + cell.h) ?? null

  const title = (view) => {
    const letters = view.gridAxes.map((axis) => axis.letter || axis.title.toLowerCase())
    return `${view.measure.label} over ${letters.join(" and ")}`
  }

  const words = (view) => `${title(view)}. ${view.setting.label}: `
    + `${view.setting.alike ? view.setting.alike : worded(view.measure, view.value(view.place))}. `
    + "Arrow keys choose a setting."

  return { draw, move, mark, under, title, words, keys: true }
}
