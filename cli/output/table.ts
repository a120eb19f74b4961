/** Lays out data on a screen, as a table or as the fields of one object. */
import { type Cell, inLine, isAbsent, paintCell, textOf } from './cell.ts';
import type { Screen } from './screen.ts';
import { widthOf } from './width.ts';

/** Text, or a function that returns lines for a screen. */
export type View = string | ((screen: Screen) => readonly string[]);

/**
 * Header → function that returns the cell of a row. The first column identifies the row; long text is in the last
 * column.
 */
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

interface RenderedCell {
  readonly cell: Cell;
  readonly text: string;
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly isNumber: boolean;
  /** One cell for each row. */
  readonly cells: readonly RenderedCell[];
}

const gap = '  ';
const indent = '  ';
/** When the last column would be narrower than this, it is printed below its rows instead of being wrapped. */
const minLastWidth = 24;

/**
 * One line per row. In a terminal, a long last column is wrapped, other columns that do not fit are printed below their
 * row, and empty columns are omitted.
 * @param empty printed instead of a table without rows
 */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>, empty: string): View {
  return (screen) => {
    if (rows.length === 0) return [empty];
    const all = Object.entries(columns).map(([title, cellOf]) => toColumn(title, rows.map(cellOf), screen));
    const visible = screen.isTerminal
      ? all.filter(({ cells }, index) => index === 0 || cells.some(({ cell }) => !isAbsent(cell)))
      : all;
    const { beside, under } = arrange(visible, screen.columns);
    const header = beside.map(({ title, ...column }) => align(screen.paint('bold', title), widthOf(title), column));
    return [
      header.join(gap).trimEnd(),
      ...rows.flatMap((_, row) => [
        ...linesOf(
          beside.map((column) => ({ column, ...column.cells[row]! })),
          screen,
        ),
        ...linesUnder(
          under.map((column) => ({ column, ...column.cells[row]! })),
          screen,
        ),
      ]),
    ];
  };
}

/** Returns a view with a line `name: value` for each field that has a value. */
export function fields(values: Readonly<Record<string, Cell>>): View {
  return (screen) => {
    const present = Object.entries(values)
      .filter(([, cell]) => !isAbsent(cell))
      .map(([name, cell]) => ({ name: inLine(name), cell }));
    const width = Math.max(0, ...present.map(({ name }) => widthOf(name) + 1));
    return present.flatMap(({ name, cell }) => {
      const label = `${screen.paint('bold', `${name}:`)}${' '.repeat(width - widthOf(name) - 1)}${gap}`;
      const lines = wrap(textOf(cell, screen), screen.columns - width - gap.length);
      return lines.map(
        (line, index) => `${index === 0 ? label : ' '.repeat(width + gap.length)}${paintCell(cell, line, screen)}`,
      );
    });
  };
}

function toColumn(title: string, cells: readonly Cell[], screen: Screen): Column {
  const rendered = cells.map((cell) => ({ cell, text: textOf(cell, screen) }));
  return {
    title,
    width: rendered.reduce((width, { text }) => Math.max(width, widthOf(text)), widthOf(title)),
    isNumber:
      cells.some((cell) => typeof cell === 'number') &&
      cells.every((cell) => typeof cell === 'number' || isAbsent(cell)),
    cells: rendered,
  };
}

/**
 * Splits the columns into those that fit side by side, the last one perhaps wrapped, and those printed below their
 * rows.
 */
function arrange(columns: readonly Column[], room: number): { beside: readonly Column[]; under: readonly Column[] } {
  let end = -gap.length;
  const first = columns.findIndex(({ width }) => (end += gap.length + width) > room);
  const count = first === -1 ? columns.length : Math.max(1, first);
  const last = columns[count];
  if (last !== undefined && count === columns.length - 1) {
    const remaining = room - (end - last.width);
    if (
      remaining >= minLastWidth &&
      last.cells.every(({ text }) => text.split(' ').every((word) => widthOf(word) <= remaining))
    ) {
      return { beside: [...columns.slice(0, count), { ...last, width: remaining }], under: [] };
    }
  }
  return { beside: columns.slice(0, count), under: columns.slice(count) };
}

interface ColumnCell extends RenderedCell {
  readonly column: Column;
}

function linesOf(cells: readonly ColumnCell[], screen: Screen): string[] {
  const broken = cells.map(({ column, text }) => wrap(text, column.width));
  const height = Math.max(...broken.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map(({ column, cell }, index) => {
        const text = broken[index]![line] ?? '';
        return align(text === '' ? '' : paintCell(cell, text, screen), widthOf(text), column);
      })
      .join(gap)
      .trimEnd(),
  );
}

function align(painted: string, width: number, column: Pick<Column, 'width' | 'isNumber'>): string {
  const space = ' '.repeat(Math.max(0, column.width - width));
  return column.isNumber ? `${space}${painted}` : `${painted}${space}`;
}

/** Returns the lines below a row, one for each value that did not fit, after its header. */
function linesUnder(cells: readonly ColumnCell[], screen: Screen): string[] {
  const room = screen.columns - indent.length;
  const lines: string[] = [];
  for (const { column, cell, text } of cells) {
    if (isAbsent(cell)) continue;
    const added = `${column.title.toLowerCase()} ${text}`;
    const line = lines.at(-1);
    if (line !== undefined && widthOf(line) + gap.length + widthOf(added) <= room)
      lines[lines.length - 1] = `${line}${gap}${added}`;
    else lines.push(added);
  }
  return lines.flatMap((line) => wrap(line, room)).map((line) => screen.paint('dim', `${indent}${line}`));
}

/** Wraps between words; the terminal wraps words that are too long. */
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
