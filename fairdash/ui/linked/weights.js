// How the weights r are spread: their density by group on a log axis, and below 5, 25,
// 50, 75 and 95 % of them by subgroup and group. The axis is the same for all settings.
function weightRange(view) {
  const { bins, settings } = view.summary
  const seen = settings.map(({ weights }) => weights).filter(Boolean)
  const heavy = seen.flatMap(({ first_bin: first, density }) =>
    density[0].map((_, i) => [first + i, Math.max(...density.map((group) => group[i]))])
      .filter(([, share]) => share > 0.004).map(([bin]) => bin))
  if (!heavy.length) return [0.1, 10]
  const [low, high] = [Math.min(...heavy), Math.max(...heavy)]
  return [Math.min(bins[low], 0.5), Math.max(bins[high + 1], 2)]
}

function weightTicks(scale) {
  const [low, high] = scale.domain(), steps = Math.log10(high / low) > 2.2 ? [1] : [1, 2, 5]
  const ticks = []
  for (let decade = -4; decade <= 3; decade++) {
    for (const step of steps) {
      const tick = step * 10 ** decade
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(+tick.toPrecision(3))
    }
  }
  return ticks
}

const equalWeights = (view) => (view.method.gives_weights
  ? "stored without its weights"
  : `${view.method.label} gives every row the same weight`)

// more densities on one line cannot be told apart: each group has a line of its own then
const MOST_ON_A_LINE = 4
const hasManyGroups = (view) => view.data.groups.length > MOST_ON_A_LINE

function densityPart(host) {
  const svg = d3.select(host)
  let x, box, line

  function draw(view, colours, width, height) {
    svg.selectAll("*").remove()
    const { groups } = view.data, many = hasManyGroups(view)
    const fills = groups.map((group, k) => [colours.groups[k], shortened(group, 28)])
    const name = many ? Math.min(150, 0.36 * width) : 10
    const bottom = height - 34
    line = many ? (bottom - 8) / (groups.length + 0.6) : 0
    const top = 8 + (many ? 0.6 * line : keys(svg, fills, width))
    box = { left: name, right: width - 10, top, bottom }
    x = d3.scaleLog(weightRange(view), [box.left, box.right]).clamp(true)
    const ticks = weightTicks(x)
    gridX(svg, x, ticks, ticks.map(String), box)
    axisTitle(svg, "weight r of a training row", (box.left + box.right) / 2, height - 4)
    const ground = (k) => (groups.length - 1 - k) * line
    if (many) {
      svg.append("g").selectAll("text").data(groups).join("text").attr("class", "name")
        .attr("x", name - 8).attr("y", (_, k) => box.bottom - ground(k) - 2)
        .attr("text-anchor", "end").style("font-size", `${Math.min(12, line)}px`)
        .text((group) => shortened(group, Math.floor(name / 6.6)))
    }
    svg.append("g").attr("class", "areas").selectAll("path").data(groups).join("path")
      .attr("fill", (_, k) => colours.groups[k]).attr("stroke", (_, k) => colours.groups[k])
      .attr("transform", (_, k) => `translate(0,${-ground(k)})`)
    const one = svg.append("line").attr("class", "plain").attr("x1", x(1)).attr("x2", x(1))
    one.attr("y1", box.top).attr("y2", box.bottom)
    svg.append("text").attr("class", "empty").attr("x", (box.left + box.right) / 2)
      .attr("y", (box.top + box.bottom) / 2).attr("text-anchor", "middle")
    move(view)
  }

  function move(view) {
    const { weights } = view.setting, { bins } = view.summary
    svg.select(".areas").attr("display", weights ? null : "none")
    svg.select(".empty").text(weights ? "" : equalWeights(view))
    if (!weights) return
    const { first_bin: first, density } = weights
    const most = Math.max(...density.flat(), 0.02)
    // a density may reach into the line above it, which is mostly empty
    const highest = line ? 1.6 * line : box.bottom - box.top - 4
    const tall = (share) => box.bottom - (share / most) * highest
    const shape = d3.area().x(([bin]) => x(Math.sqrt(bins[bin] * bins[bin + 1])))
      .y0(box.bottom).y1(([, share]) => tall(share)).curve(d3.curveMonotoneX)
    const closed = (shares) => {
      const points = shares.map((share, i) => [first + i, share])
      if (first > 0) points.unshift([first - 1, 0])
      if (first + shares.length < bins.length - 1) points.push([first + shares.length, 0])
      return points
    }
    svg.select(".areas").selectAll("path").attr("d", (_, k) => shape(closed(density[k])))
  }

  const title = () => "How the weights r are spread"
  const words = (view) => (view.setting.weights
    ? `${title()}. ${view.data.groups.map((group, k) => `${group}: median ${view.setting.weights.all[k]?.[2] ?? "–"}`).join(", ")}.`
    : `${equalWeights(view)}.`)

  return { draw, move, mark() {}, under: () => null, title, words }
}

function quantilesPart(host) {
  const svg = d3.select(host)
  let x, rows, box, tall

  function draw(view, colours, width, height) {
    svg.selectAll("*").remove()
    const { subgroups } = view.summary, name = Math.min(132, 0.32 * width)
    box = { left: name, right: width - 10, top: 4, bottom: height - 34 }
    tall = (box.bottom - box.top) / Math.max(subgroups.length, 1)
    x = d3.scaleLog(weightRange(view), [box.left, box.right]).clamp(true)
    const ticks = weightTicks(x)
    gridX(svg, x, ticks, ticks.map(String), box)
    const many = hasManyGroups(view)
    const drawn = many ? "median weight r of each group" : "weight r: 5, 25, 50, 75, 95%"
    axisTitle(svg, drawn, (box.left + box.right) / 2, height - 4)
    svg.append("line").attr("class", "plain").attr("x1", x(1)).attr("x2", x(1))
      .attr("y1", box.top).attr("y2", box.bottom)
    rows = svg.append("g").selectAll("g").data(subgroups).join("g").attr("class", "row")
      .attr("transform", (_, i) => `translate(0,${box.top + (i + 0.5) * tall})`)
    rows.append("rect").attr("class", "under").attr("width", width)
      .attr("y", -tall / 2).attr("height", tall)
    rows.append("text").attr("class", "name").attr("x", box.left - 8).attr("y", 4)
      .attr("text-anchor", "end").text((text) => shortened(text, Math.floor(name / 6.6)))
    const n = view.data.groups.length, step = (tall * 0.72) / n
    view.data.groups.forEach((_, k) => {
      const group = rows.append("g").attr("class", `box g${k}`).attr("stroke", colours.groups[k])
        .attr("transform", `translate(0,${(k - (n - 1) / 2) * step})`)
      if (!many) {
        group.append("line").attr("class", "outer")
        group.append("line").attr("class", "inner").attr("stroke-width", Math.min(step * 0.55, 5))
      }
      group.append("circle").attr("r", many ? 3.5 : Math.min(step * 0.32, 3))
    })
    svg.append("text").attr("class", "empty").attr("x", (box.left + box.right) / 2)
      .attr("y", (box.top + box.bottom) / 2).attr("text-anchor", "middle")
    move(view)
    mark(view)
  }

  function move(view) {
    const { weights } = view.setting
    svg.select(".empty").text(weights ? "" : equalWeights(view))
    view.data.groups.forEach((_, k) => {
      const cell = (i) => weights?.inside[i][k] ?? null
      const group = rows.select(`.g${k}`).attr("display", (_, i) => (cell(i) ? null : "none"))
      const at = (q) => (_, i) => (cell(i) ? x(cell(i)[q]) : 0)
      group.select(".outer").attr("x1", at(0)).attr("x2", at(4))
      group.select(".inner").attr("x1", at(1)).attr("x2", at(3))
      group.select("circle").attr("cx", at(2))
    })
  }

  const mark = (view) => rows.classed("on", (_, i) => i === view.hover.subgroup)

  function under(view, [, py]) {
    const i = Math.floor((py - box.top) / tall)
    return i >= 0 && i < view.summary.subgroups.length ? { subgroup: i } : null
  }

  const hint = (view, { subgroup }) => [
    view.summary.subgroups[subgroup],
    ...view.data.groups.map((group, k) => {
      const cell = view.setting.weights?.inside[subgroup][k]
      return cell ? `${group}: median r ${cell[2]}, 5–95% ${cell[0]}–${cell[4]}` : `${group}: –`
    }),
  ]

  const title = () => "Weights r by subgroup and group"
  const words = (view) => (view.setting.weights
    ? `${title()}. Medians: ${view.summary.subgroups.map((name, i) => `${name} ${view.setting.weights.inside[i].map((cell) => cell?.[2] ?? "–").join(" and ")}`).join("; ")}.`
    : `${equalWeights(view)}.`)

  return { draw, move, mark, under, hint, title, words }
}
