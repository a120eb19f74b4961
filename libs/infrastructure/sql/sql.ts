/**
 * Composable SQL fragments. A fragment contains other fragments and named parameters; the parameters are numbered and
 * cast when a statement is declared. Strings are rejected, so that input of callers cannot become SQL.
 */

/** A named parameter of a statement. */
export class Parameter {
  readonly name: string;
  readonly type: SqlType<unknown>;

  constructor(name: string, type: SqlType<unknown>) {
    this.name = name;
    this.type = type;
  }
}

/** Values that a fragment can contain. Numbers must be integers and are written literally. */
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
  /** Names of the parameters `$1…`, in this order. A parameter that is used several times has one number. */
  readonly names: readonly string[];
}

/**
 * Builds a fragment: ``sql`where c.id = ${id}` ``. @throws Error for values other than fragments, parameters and
 * integers
 */
export function sql(words: TemplateStringsArray, ...parts: readonly SqlPart[]): Sql {
  for (const part of parts) {
    if (part instanceof Sql || part instanceof Parameter || Number.isSafeInteger(part)) continue;
    throw new Error(`"${String(part)}" is not an SQL fragment`);
  }
  return new Sql(words, parts);
}

const identifier = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*$/;

/**
 * Returns the name of a table, column or alias as a fragment: `directory.people`. @throws Error unless the name is a
 * plain identifier
 */
sql.id = (name: string): Sql => {
  if (!identifier.test(name)) throw new Error(`"${name}" is not a plain SQL identifier`);
  return new Sql([name], []);
};

/** Returns a constant text as a quoted literal. */
sql.literal = (text: string): Sql => new Sql([`'${text.replaceAll("'", "''")}'`], []);

/** Returns the fragments with `separator` between them. */
sql.join = (fragments: readonly SqlPart[], separator: Sql): Sql => {
  const parts = fragments.flatMap((fragment, index) => (index === 0 ? [fragment] : [separator, fragment]));
  return new Sql(
    Array.from({ length: parts.length + 1 }, () => ''),
    parts,
  );
};

/** An empty fragment, for optional conditions and joins. */
sql.empty = new Sql([''], []);

/** Returns the text of the fragment with numbered parameters, and the parameter names. */
export function render(fragment: Sql): RenderedSql {
  const names: string[] = [];
  const write = (part: SqlPart): string => {
    if (typeof part === 'number') return String(part);
    if (part instanceof Sql)
      return part.words
        .map((word, index) => word + (index in part.parts ? write(part.parts[index] as SqlPart) : ''))
        .join('');
    const known = names.indexOf(part.name);
    const number = known === -1 ? names.push(part.name) : known + 1;
    return `$${number}::${part.type.name}`;
  };
  return { text: write(fragment), names };
}

/** PostgreSQL types of statement parameters and columns, each with the TypeScript type of its values. */

export class SqlType<Value> {
  /** Type that parameters are cast to, e.g. `integer[]`. */
  readonly name: string;
  /** OIDs of the column types that this type accepts. */
  readonly oids: readonly number[];
  readonly isNullable: boolean;
  /** Exists only for type inference and is never set. */
  declare readonly value?: Value;

  constructor(name: string, oids: readonly number[], isNullable = false) {
    this.name = name;
    this.oids = oids;
    this.isNullable = isNullable;
  }

  /** Returns this type with null as an additional value. */
  get nullable(): SqlType<Value | null> {
    return new SqlType<Value | null>(this.name, this.oids, true);
  }

  /** Returns this type, narrowed to `Narrow` for the compiler only. */
  as<Narrow extends Value>(): SqlType<Narrow> {
    return new SqlType<Narrow>(this.name, this.oids, this.isNullable);
  }
}

/** A type that can also be the element type of an array. */
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
  /** A number when a double represents the value exactly, otherwise its digits. */
  bigint: scalar<number>('bigint', [20], [1016]),
  double: scalar<number>('double precision', [700, 701], [1021, 1022]),
  /** Decimal number as text; also the result of `sum(bigint)`. */
  numeric: scalar<string>('numeric', [1700], [1231]),
  text: scalar<string>('text', [25, 19, 1042, 1043], [1009, 1015]),
  uuid: scalar<string>('uuid', [2950], [2951]),
  /** Date as text, `YYYY-MM-DD`. */
  date: scalar<string>('date', [1082], [1182]),
  /** Instant as text, with offset and microseconds. */
  instant: scalar<string>('timestamptz', [1184], [1185]),
  /** Instant as text without an offset, as returned by `at time zone 'UTC'`. */
  timestamp: scalar<string>('timestamp', [1114], [1115]),
  interval: scalar<string>('interval', [1186], [1187]),
  /** JSON as text: documents built by SQL for clients are not parsed. */
  json: scalar<string>('jsonb', [114, 3802], [199, 3807]),
  bytes: scalar<Uint8Array>('bytea', [17], [1001]),
} as const;

/** Names with their types: the parameters of a statement, or the columns of its rows. */
export type Shape = Readonly<Record<string, SqlType<unknown>>>;

/** A row with these columns. */
export type RowOf<Columns extends Shape> = { readonly [Name in keyof Columns]: ValueOf<Columns[Name]> };

/** Parameter values of a statement. For nullable parameters, undefined means null. */
export type ParamsOf<Params extends Shape> = {
  readonly [Name in keyof Params]: null extends ValueOf<Params[Name]>
    ? ValueOf<Params[Name]> | undefined
    : ValueOf<Params[Name]>;
};

type ValueOf<Type> = Type extends SqlType<infer Value> ? Value : never;
