/**
 * Text of SQL that composes: a fragment holds other fragments and parameters by name, which number and cast themselves when a statement is
 * declared. Nothing else can be put into it: a string is no fragment, so nothing that a caller sent ever becomes text of SQL.
 */

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

/** Types of PostgreSQL as parameters and columns of statements have them, each with the TypeScript type of its values. */

export class SqlType<Value> {
  /** What a parameter of it is cast to, e.g. `integer[]`. */
  readonly name: string;
  /** Object ids of the types that a column may have. */
  readonly oids: readonly number[];
  readonly isNullable: boolean;
  /** Of the compiler alone. */
  declare readonly value?: Value;

  constructor(name: string, oids: readonly number[], isNullable = false) {
    this.name = name;
    this.oids = oids;
    this.isNullable = isNullable;
  }

  /** The same, or null. */
  get nullable(): SqlType<Value | null> {
    return new SqlType<Value | null>(this.name, this.oids, true);
  }

  /** The same; for the compiler, of its values only those of `Narrow`. */
  as<Narrow extends Value>(): SqlType<Narrow> {
    return new SqlType<Narrow>(this.name, this.oids, this.isNullable);
  }
}

/** A type that arrays exist of. */
class ScalarType<Value> extends SqlType<Value> {
  readonly array: SqlType<readonly Value[]>;
  readonly arrayWithNulls: SqlType<readonly (Value | null)[]>;

  constructor(name: string, oids: readonly number[], arrayOids: readonly number[]) {
    super(name, oids);
    this.array = new SqlType<readonly Value[]>(`${name}[]`, arrayOids);
    this.arrayWithNulls = new SqlType<readonly (Value | null)[]>(`${name}[]`, arrayOids);
  }
}

function scalar<Value>(name: string, oids: readonly number[], arrayOids: readonly number[]): ScalarType<Value> {
  return new ScalarType<Value>(name, oids, arrayOids);
}

export const t = {
  boolean: scalar<boolean>('boolean', [16], [1000]),
  integer: scalar<number>('integer', [21, 23], [1005, 1007]),
  /** A number as long as a double holds it. */
  bigint: scalar<number>('bigint', [20], [1016]),
  double: scalar<number>('double precision', [700, 701], [1021, 1022]),
  /** Digits; what PostgreSQL makes of `sum(bigint)`. */
  numeric: scalar<string>('numeric', [1700], [1231]),
  text: scalar<string>('text', [25, 19, 1042, 1043], [1009, 1015]),
  uuid: scalar<string>('uuid', [2950], [2951]),
  /** `YYYY-MM-DD` */
  date: scalar<string>('date', [1082], [1182]),
  /** Instant with offset, as text with microseconds. */
  instant: scalar<string>('timestamptz', [1184], [1185]),
  /** The same without offset: `at time zone 'UTC'`. */
  timestamp: scalar<string>('timestamp', [1114], [1115]),
  interval: scalar<string>('interval', [1186], [1187]),
  /** A document as text: what SQL made for a client is never parsed on its way. */
  json: scalar<string>('jsonb', [114, 3802], [199, 3807]),
  bytes: scalar<Uint8Array>('bytea', [17], [1001]),
} as const;

/** Names with their types: the parameters of a statement, or the columns of its rows. */
export type Shape = Readonly<Record<string, SqlType<unknown>>>;

/** A row with these columns. */
export type RowOf<Columns extends Shape> = { readonly [Name in keyof Columns]: ValueOf<Columns[Name]> };

/** Values for these parameters; where null may stand, undefined is null. */
export type ParamsOf<Params extends Shape> = {
  readonly [Name in keyof Params]: null extends ValueOf<Params[Name]> ? ValueOf<Params[Name]> | undefined : ValueOf<Params[Name]>;
};

type ValueOf<Type> = Type extends SqlType<infer Value> ? Value : never;
