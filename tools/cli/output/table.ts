/** How data stand on a screen: rows under headers, or the fields of one thing under each other. */
import { type Cell, isAbsent, paintCell, textOf } from './cell.ts';
import type { Screen } from './screen.ts';
import { widthOf } from './width.ts';

/** Text as it is, or lines that depend on the screen. */
export type View = string | ((screen: Screen) => readonly string[]);

/** Header → what stands under it. The first names the row; long text comes last. */
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

interface Placed {
  readonly cell: Cell;
  readonly text: string;
  readonly width: number;
}

const gap = '  ';
const indent = '  ';

/**
 * A line for each row. Columns that find no room in the terminal stand under their row, so that nothing is cut.
 * @param empty in place of a table without rows
 */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>, empty: string): View {
  return (screen) => {
    if (rows.length === 0) return [empty];
    const titles = Object.keys(columns);
    const placed = rows.map((row) => Object.values(columns).map((cellOf) => place(cellOf(row), screen)));
    const widths = titles.map((title, index) => Math.max(widthOf(title), ...placed.map((cells) => cells[index]!.width)));
    const beside = countFitting(widths, screen.columns);
    const isNumber = titles.map((_, index) =>
      placed.every((cells) => typeof cells[index]!.cell === 'number' || isAbsent(cells[index]!.cell)),
    );
    const lineOf = (texts: readonly { painted: string; width: number }[]): string =>
      texts
        .map(({ painted, width }, index) => {
          const space = ' '.repeat(widths[index]! - width);
          return isNumber[index] === true ? `${space}${painted}` : `${painted}${space}`;
        })
        .join(gap)
        .trimEnd();
    const header = titles.slice(0, beside).map((title) => ({ painted: screen.paint('bold', title), width: widthOf(title) }));
    return [
      lineOf(header),
      ...placed.flatMap((cells) => [
        lineOf(cells.slice(0, beside).map((item) => ({ painted: paintCell(item.cell, item.text, screen), width: item.width }))),
        ...linesUnder(titles.slice(beside), cells.slice(beside), screen),
      ]),
    ];
  };
}

/** One thing: `name: value` of each field that is there, the values under each other. */
export function fields(values: Readonly<Record<string, Cell>>): View {
  return (screen) => {
    const present = Object.entries(values).filter(([, cell]) => !isAbsent(cell));
    const width = Math.max(0, ...present.map(([name]) => widthOf(name) + 1));
    return present.flatMap(([name, cell]) => {
      const label = `${screen.paint('bold', `${name}:`)}${' '.repeat(width - widthOf(name) - 1)}${gap}`;
      const lines = wrap(textOf(cell, screen), screen.columns - width - gap.length);
      return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(width + gap.length)}${paintCell(cell, line, screen)}`);
    });
  };
}

function place(cell: Cell, screen: Screen): Placed {
  const text = textOf(cell, screen);
  return { cell, text, width: widthOf(text) };
}

function countFitting(widths: readonly number[], columns: number): number {
  let end = -gap.length;
  const first = widths.findIndex((width) => (end += gap.length + width) > columns);
  return first === -1 ? widths.length : Math.max(1, first);
}

/** What found no room beside the others, each value after its title. */
function linesUnder(titles: readonly string[], cells: readonly Placed[], screen: Screen): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [index, { cell, text }] of cells.entries()) {
    if (isAbsent(cell) || text === '') continue;
    const title = titles[index]!.toLowerCase();
    const room = screen.columns - indent.length;
    const added = `${title} ${text}`;
    if (line !== '' && widthOf(line) + gap.length + widthOf(added) > room) {
      lines.push(line);
      line = '';
    }
    line += `${line === '' ? '' : gap}${added}`;
  }
  if (line !== '') lines.push(line);
  return lines.flatMap((text) => wrap(text, screen.columns - indent.length)).map((text) => screen.paint('dim', `${indent}${text}`));
}

/** Broken between words; a word that is too long is left to the terminal. */
function wrap(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
