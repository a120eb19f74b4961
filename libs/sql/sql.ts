/**
 * Text of SQL that composes: a fragment holds other fragments and parameters by name, which number and cast themselves when a statement is
 * declared. Nothing else can be put into it: a string is no fragment, so nothing that a caller sent ever becomes text of SQL.
 */
import type { SqlType } from './sql-type.ts';

/** A value that the caller of a statement names. */
export class Parameter {
  readonly name: string;
  readonly type: SqlType<unknown>;

  constructor(name: string, type: SqlType<unknown>) {
    this.name = name;
    this.type = type;
  }
}

/** What stands in a fragment between its words; a number is a whole one, written as it is. */
export type SqlPart = Sql | Parameter | number;

/** A fragment. */
export class Sql {
  readonly words: readonly string[];
  readonly parts: readonly SqlPart[];

  constructor(words: readonly string[], parts: readonly SqlPart[]) {
    this.words = words;
    this.parts = parts;
  }
}

export interface RenderedSql {
  readonly text: string;
  /** Names of the parameters `$1…`; one that is used often has one number. */
  readonly names: readonly string[];
}

/** Makes a fragment: ``sql`where c.id = ${id}` ``. @throws Error when something else than a fragment, parameter or whole number is put in */
export function sql(words: TemplateStringsArray, ...parts: readonly SqlPart[]): Sql {
  for (const part of parts) {
    if (part instanceof Sql || part instanceof Parameter || Number.isSafeInteger(part)) continue;
    throw new Error(`"${String(part)}" is no fragment of SQL`);
  }
  return new Sql(words, parts);
}

const identifier = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*$/;

/** A name of a table, column or alias that the code knows: `directory.people`. @throws Error when it is no plain name */
sql.id = (name: string): Sql => {
  if (!identifier.test(name)) throw new Error(`"${name}" is no plain name of SQL`);
  return new Sql([name], []);
};

/** A text that the code knows, quoted. */
sql.literal = (text: string): Sql => new Sql([`'${text.replaceAll("'", "''")}'`], []);

/** Fragments with `separator` between them. */
sql.join = (fragments: readonly SqlPart[], separator: Sql): Sql => {
  const parts = fragments.flatMap((fragment, place) => (place === 0 ? [fragment] : [separator, fragment]));
  return new Sql(
    Array.from({ length: parts.length + 1 }, () => ''),
    parts,
  );
};

/** Nothing, where a condition or a join is left out. */
sql.empty = new Sql([''], []);

/** The text for PostgreSQL. */
export function render(fragment: Sql): RenderedSql {
  const names: string[] = [];
  const write = (part: SqlPart): string => {
    if (typeof part === 'number') return String(part);
    if (part instanceof Sql)
      return part.words.map((word, place) => word + (place in part.parts ? write(part.parts[place] as SqlPart) : '')).join('');
    const known = names.indexOf(part.name);
    const place = known === -1 ? names.push(part.name) : known + 1;
    return `$${place}::${part.type.name}`;
  };
  return { text: write(fragment), names };
}
