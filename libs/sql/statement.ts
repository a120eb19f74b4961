/**
 * Statements: declared once with a name, parameters by name and the columns of their rows, called as functions. PostgreSQL parses and plans each
 * once per connection. docs/adr/statements-are-typed-functions.md
 */
import { Parameter, render, type Sql } from './sql.ts';
import type { ParamsOf, RowOf, Shape } from './sql-type.ts';

/** SQL with a name, its parameters numbered. */
export interface PreparedStatement extends StatementOptions {
  readonly name: string;
  readonly text: string;
}

export interface StatementOptions {
  /**
   * `each-call`: planned anew for the values of each call, for the few whose best plan depends on them, such as a part of a name; it costs a plan
   * each time. `once`: never for values, for those of many tables that are read alike for any: their planning takes longer than their work. Without
   * it PostgreSQL decides after some calls, by what it guesses about the cost of either.
   */
  readonly planned?: 'each-call' | 'once';
  /**
   * Shares a connection with others of the same turn of the event loop, one behind the other. `always`: for reads of a few rows by key, which
   * never wait for a lock. `when-busy`: for writes of one row, as long as they would wait for a connection anyway. A slow one delays the others,
   * so nobody asks for one within a transaction of its own. Without it a statement has a connection to itself.
   */
  readonly pipelined?: 'always' | 'when-busy';
}

/** A database, or a transaction in it. */
export interface Queryable {
  /**
   * Runs a statement. JSON, instants and dates come as text, int8 as number where a double holds it. Outside a transaction a statement that only
   * reads runs again when its connection is lost.
   */
  query<Row>(statement: PreparedStatement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A database from which rows are read in batches. */
export interface Streamable {
  /** Rows in batches from a cursor, constant memory; the query ends when the reader leaves the loop. */
  stream<Row>(statement: PreparedStatement, values: readonly unknown[], options: StreamOptions): AsyncIterable<Row[]>;
}

export interface StreamOptions {
  /** Rows that are read at once and held in memory. */
  readonly batch: number;
  /** The same of the first batch, when most readers should be done with it; default `batch`. */
  readonly firstBatch?: number;
  /** Settings of PostgreSQL's planner for this query alone, such as `cursor_tuple_fraction`. */
  readonly planner?: Readonly<Record<string, string>>;
}

type NoParams = Readonly<Record<string, never>>;

/** Values of the parameters; nothing for a statement without any. */
type Values<Params extends Shape> = string extends keyof Params ? [] : [values: ParamsOf<Params>];

/** A declared statement: a function of a database or a transaction, and of its parameters. */
export interface DeclaredStatement<Params extends Shape, Columns extends Shape, Result> {
  (on: Queryable, ...values: Values<Params>): Promise<Result>;
  readonly prepared: PreparedStatement;
  readonly params: Params;
  /** Columns of a row. */
  readonly row: Columns;
  /** Names of the parameters in the order of their numbers. */
  readonly order: readonly string[];
}

/** A statement that may have any number of rows. */
export interface ManyStatement<Params extends Shape, Columns extends Shape> extends DeclaredStatement<Params, Columns, RowOf<Columns>[]> {
  stream(on: Streamable, values: ParamsOf<Params>, options: StreamOptions): AsyncIterable<RowOf<Columns>[]>;
}

interface Declared<Params extends Shape> extends StatementOptions {
  /** Unique within a service, at most 63 bytes long; seen in traces and by `pg_prepared_statements`. */
  readonly name: string;
  /** Absent = none. */
  readonly params?: Params;
  readonly sql: (params: { readonly [Name in keyof Params]: Parameter }) => Sql;
}

interface DeclaredWithRow<Params extends Shape, Columns extends Shape> extends Declared<Params> {
  readonly row: Columns;
}

/** Declares a statement. Each of these throws an Error when the name is malformed or a declared parameter is not used. */
export const statement = {
  /** Any number of rows. */
  many<Columns extends Shape, Params extends Shape = NoParams>(declared: DeclaredWithRow<Params, Columns>): ManyStatement<Params, Columns> {
    const many = declare(declared, declared.row, (rows: RowOf<Columns>[]) => rows);
    const stream = (on: Streamable, values: ParamsOf<Params>, options: StreamOptions): AsyncIterable<RowOf<Columns>[]> =>
      on.stream(
        many.prepared,
        many.order.map((name) => values[name]),
        options,
      );
    return Object.assign(many, { stream });
  },

  /** The first row, or undefined. */
  maybeOne<Columns extends Shape, Params extends Shape = NoParams>(
    declared: DeclaredWithRow<Params, Columns>,
  ): DeclaredStatement<Params, Columns, RowOf<Columns> | undefined> {
    return declare(declared, declared.row, (rows: RowOf<Columns>[]) => rows[0]);
  },

  /** A row that is always there, such as a count or what an insert returns. The call fails with an Error when it is not. */
  one<Columns extends Shape, Params extends Shape = NoParams>(
    declared: DeclaredWithRow<Params, Columns>,
  ): DeclaredStatement<Params, Columns, RowOf<Columns>> {
    return declare(declared, declared.row, (rows: RowOf<Columns>[]) => {
      const [row] = rows;
      if (row === undefined) throw new Error(`Statement "${declared.name}" gave no row`);
      return row;
    });
  },

  /** No row. */
  none<Params extends Shape = NoParams>(declared: Declared<Params>): DeclaredStatement<Params, NoParams, void> {
    return declare(declared, {}, () => undefined);
  },
} as const;

function declare<Params extends Shape, Columns extends Shape, Result>(
  { name, params = {} as Params, sql, planned, pipelined }: Declared<Params>,
  row: Columns,
  take: (rows: RowOf<Columns>[]) => Result,
): DeclaredStatement<Params, Columns, Result> {
  if (!/^[a-z][a-z0-9_.-]{0,62}$/.test(name)) throw new Error(`"${name}" is not a name of a statement`);
  const parameters = Object.fromEntries(Object.entries(params).map(([key, type]) => [key, new Parameter(key, type)]));
  const { text, names: order } = render(sql(parameters as { readonly [Name in keyof Params]: Parameter }));
  const unused = Object.keys(params).filter((key) => !order.includes(key));
  if (unused.length > 0) throw new Error(`Statement "${name}" does not use ${unused.join(', ')}`);
  const prepared: PreparedStatement = Object.freeze({ name, text, ...(planned && { planned }), ...(pipelined && { pipelined }) });
  const call = (on: Queryable, values?: Readonly<Record<string, unknown>>): Promise<Result> =>
    on.query<RowOf<Columns>>(prepared, values === undefined ? [] : order.map((key) => values[key])).then(take);
  return Object.assign(call, { prepared, params, row, order });
}
