// Gaps inside subgroups, before (the plain model) and with the chosen setting. Of two
// groups a mark is filled with the colour of the one that is worse off, where that is
// clear, and hollow where it is not: as on Local fairness.
const MOST_SUBGROUPS = 12 // of a summary: see audits/linked_form.py

function localPart(host) {
  const svg = d3.select(host)
  let x, rows, box, tall

  const isSigned = (view) => view.data.groups.length === 2

  // the group that is worse off in a subgroup, null where that is not clear
  const worse = (setting, i) => (setting && !setting.alike ? setting.against[i] : null)

  const filled = (view, colours, setting, usual) => (_, i) => {
    if (!isSigned(view)) return usual
    const group = worse(setting, i)
    return group === null ? colours.paper : colours.groups[group]
  }

  function draw(view, colours, width, height) {
    svg.selectAll("*").remove()
    const { subgroups, settings } = view.summary
    const name = Math.min(132, 0.32 * width)
    const most = Math.floor((width - 150) / 2 / 6.4)
    const fills = isSigned(view) ? [
      ...view.data.groups.map((group, k) => [colours.groups[k], `${shortened(group, most)} worse off`]),
      [colours.paper, "not clear"],
    ] : []
    box = { left: name, right: width - 58, top: 4 + keys(svg, fills, width), bottom: height - 34 }
    tall = (box.bottom - box.top) / Math.max(subgroups.length, 1)
    const gaps = settings.filter(({ alike }) => !alike)
      .flatMap(({ local }) => local.map((gap) => gap?.[0] ?? null))
    const before = (view.plain?.local ?? []).map((gap) => gap?.[2] ?? null)
    const widest = Math.max(extent(gaps)[1] * 1.15, extent(before)[1], 0.02)
    x = d3.scaleLinear([0, Math.min(widest, 1)], [box.left, box.right])
    svg.append("rect").attr("class", "chance").attr("x", box.left).attr("y", box.top)
      .attr("height", box.bottom - box.top)
    const ticks = ticksOf(x, 5)
    gridX(svg, x, ticks, tickText({ unit: "points" }, ticks), box)
    axisTitle(svg, "gap between groups, points (grey: chance alone)", (box.left + box.right) / 2, height - 4)
    rows = svg.append("g").selectAll("g").data(subgroups).join("g").attr("class", "row")
      .attr("transform", (_, i) => `translate(0,${box.top + (i + 0.5) * tall})`)
      .attr("tabindex", 0).attr("role", view.data.opens ? "button" : "img").attr("data-subgroup", (_, i) => i)
    rows.append("rect").attr("class", "under").attr("x", 0).attr("width", width)
      .attr("y", -tall / 2).attr("height", tall)
    rows.append("text").attr("class", "name").attr("x", box.left - 8).attr("y", 4)
      .attr("text-anchor", "end").text((text) => shortened(text, Math.floor(name / 6.6)))
    const offset = Math.min(tall * 0.22, 6)
    interval(rows, "before", -offset)
    rows.append("rect").attr("class", "square").attr("x", -3.5).attr("width", 7)
      .attr("y", -3.5 - offset).attr("height", 7)
    interval(rows, "after", offset)
    rows.append("circle").attr("class", "dot").attr("r", 4.5).attr("cy", offset)
    rows.append("text").attr("class", "change").attr("x", width - 2).attr("y", 4)
      .attr("text-anchor", "end")
    place(rows, "before", ".square", view.plain?.local ?? [])
    rows.select(".square").attr("fill", filled(view, colours, view.plain, "var(--st-gray-color, #6b7280)"))
    move(view, colours)
    mark(view)
  }

  function interval(at, kind, y) {
    at.append("line").attr("class", `interval ${kind}`).attr("y1", y).attr("y2", y)
  }

  function place(at, kind, symbol, gaps) {
    const gap = (i) => gaps[i] ?? null, clipped = (v) => Math.min(x(v), box.right)
    const shown = (_, i) => (gap(i) ? null : "none")
    at.select(`.${kind}`).attr("display", shown)
      .attr("x1", (_, i) => (gap(i) ? clipped(gap(i)[1] ?? gap(i)[0]) : 0))
      .attr("x2", (_, i) => (gap(i) ? clipped(gap(i)[2] ?? gap(i)[0]) : 0))
    at.select(symbol).attr("display", shown)
      .attr("transform", (_, i) => (gap(i) ? `translate(${clipped(gap(i)[0])},0)` : null))
  }

  function move(view, colours) {
    const { local, chance, alike } = view.setting
    const colour = view.methodColour(colours, view.method)
    const shown = alike ? [] : local, before = view.plain?.local ?? []
    place(rows, "after", ".dot", shown)
    rows.select(".after").attr("stroke", colour)
    rows.select(".dot").attr("stroke", colour).attr("fill", filled(view, colours, view.setting, colour))
    const text = (gap) => (gap ? fixed(100 * gap[0], 0) : "–")
    const change = (_, i) => (!before[i] && !local[i] ? "not estimable" : `${text(before[i])} → ${text(shown[i])}`)
    rows.select(".change").text(change)
    rows.attr("aria-label", (name, i) => `${name}: ${says(view, i)}.${view.data.opens ? " Open Local fairness" : ""}`)
    svg.select(".chance").attr("width", chance === null || alike ? 0 : Math.min(x(chance), box.right) - box.left)
  }

  function mark(view) {
    rows.classed("on", (_, i) => i === view.hover.subgroup)
  }

  function says(view, i) {
    const points = (gap) => (gap ? `${fixed(100 * gap[0], 1)} points` : "not estimable")
    const { setting } = view, group = worse(setting, i)
    const against = group === null ? "" : `, against ${view.data.groups[group]}`
    const now = points(setting.alike ? null : setting.local[i])
    const change = view.plain ? `gap ${points(view.plain.local[i])} before, ${now} after` : `gap ${now}`
    return change + against
  }

  function under(view, [, py]) {
    const i = Math.floor((py - box.top) / tall)
    return i >= 0 && i < view.summary.subgroups.length ? { subgroup: i } : null
  }

  // what stands under the pointer on a row: rates by group, gap with its interval
  function hint(view, { subgroup }) {
    const { local, rates, alike } = view.setting
    const gap = alike ? null : local[subgroup]
    const between = gap && gap[1] !== null ? ` (${fixed(100 * gap[1], 1)}–${fixed(100 * gap[2], 1)})` : ""
    return [
      view.summary.subgroups[subgroup],
      gap ? `gap ${fixed(100 * gap[0], 1)} pt${between}` : "not estimable",
      direction(view, subgroup),
      ...view.data.groups.map((group, k) => `${group}: ${rates[subgroup][k] === null ? "–" : `${fixed(100 * rates[subgroup][k], 1)}%`}`),
      view.data.opens ? "Click: Local fairness" : "",
    ].filter(Boolean)
  }

  // who is worse off with this setting, and whether the gap has turned
  function direction(view, i) {
    const now = worse(view.setting, i), before = worse(view.plain, i)
    if (now === null) return ""
    const turned = before !== null && before !== now ? ": the gap has turned" : ""
    return `against ${view.data.groups[now]}${turned}`
  }

  const title = (view) => (view.plain ? "Local gaps, before and with this setting" : "Local gaps with this setting")
  const words = (view) => `${title(view)}. ${view.summary.subgroups.map((name, i) => `${name}: ${says(view, i)}`).join("; ")}.`
  const note = (view) => {
    const { n_subgroups: all, subgroups } = view.summary
    if (all === subgroups.length) return ""
    const why = subgroups.length < MOST_SUBGROUPS ? "others have too few rows" : "the widest gaps"
    return `${subgroups.length} of ${all} subgroups, ${why}`
  }

  return { draw, move, mark, under, hint, title, words, note }
}
