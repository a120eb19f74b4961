/**
 * Statements: declared once with a name, parameters by name and the columns of their rows, called as functions. PostgreSQL parses and plans each
 * once per connection. docs/adr/mikroorm-and-sql-statements.md
 */
import { Parameter, render, type Sql, sql, type ParamsOf, type RowOf, type Shape, SqlType, t } from './sql.ts';

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
   * Shares a connection with others of the same turn of the event loop, one behind the other: for reads of a few rows by key, which never wait for
   * a lock. A slow one delays the others, so nobody asks for one within a transaction of its own. Without it a statement has a connection to itself.
   */
  readonly pipelined?: true;
}

/** A statement for many calls at once: each value is the list of what the calls gave. */
export interface CoalescedPrepared extends PreparedStatement {
  /** Place among the values of the number of the row that a call writes. */
  readonly key: number;
}

/** A database, or a transaction in it. */
export interface Queryable {
  /**
   * Runs a statement. JSON, instants and dates come as text, int8 as number where a double holds it. Outside a transaction a statement that only
   * reads runs again when its connection is lost.
   */
  query<Row>(statement: PreparedStatement, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a write of one row with the values of one call, outside a transaction together with others. @returns the call's row, if it has any */
  coalesce<Row extends CoalescedRow>(statement: CoalescedPrepared, values: readonly unknown[]): Promise<Row | undefined>;
}

/** Which of the calls, from 1. */
export interface CoalescedRow {
  readonly ordinal: number;
}

/** A database from which rows are read in batches. */
export interface Streamable {
  /** Rows in batches from a cursor, constant memory; the query ends when the reader leaves the loop. */
  stream<Row>(statement: PreparedStatement, values: readonly unknown[], options: StreamOptions): AsyncIterable<Row[]>;
}

export interface StreamOptions {
  /** Rows that are read at once and held in memory. */
  readonly batchSize: number;
  /** The same of the first batch, when most readers should be done with it; default `batch`. */
  readonly firstBatchSize?: number;
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

/** A write of one row: `prepared`, `params`, `row` and `order` are those of the statement for many calls. */
export interface CoalescedStatement<Params extends Shape, Columns extends Shape> extends Omit<
  DeclaredStatement<Shape, Shape, unknown>,
  'prepared'
> {
  (on: Queryable, values: ParamsOf<Params>): Promise<RowOf<Columns> | undefined>;
  readonly prepared: CoalescedPrepared;
}

interface DeclaredCoalesced<Params extends Shape, Columns extends Shape> {
  readonly name: string;
  readonly params: Params;
  /** The parameter that is the number of the row. */
  readonly key: keyof Params & string;
  readonly row: Columns;
  /** `calls` is a table `i` of what the calls gave, its columns the parameters in snake case; the statement gives each row with `i.ordinal`. */
  readonly sql: (calls: Sql) => Sql;
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

  /**
   * A write of one row by its number, for what is written often: calls that meet under load are one statement and one commit. It gives a row for
   * each call that wrote, and no row for one that did not.
   */
  coalesced<Columns extends Shape, Params extends Shape>(
    declared: DeclaredCoalesced<Params, Columns>,
  ): CoalescedStatement<Params, Columns> {
    const { name, params, key, sql: write } = declared;
    const lists = Object.fromEntries(Object.entries(params).map(([item, type]) => [item, new SqlType<unknown>(`${type.name}[]`, [])]));
    const row: Shape = { ordinal: t.bigint, ...declared.row };
    const many = declare({ name, params: lists, sql: (given) => write(toCalls(given)) }, row, (rows) => rows);
    const { order } = many;
    const prepared: CoalescedPrepared = Object.freeze({ ...many.prepared, key: order.indexOf(key) });
    const call = (on: Queryable, values: Readonly<Record<string, unknown>>): Promise<RowOf<Columns> | undefined> =>
      on.coalesce<RowOf<Columns> & CoalescedRow>(
        prepared,
        order.map((item) => values[item] ?? null),
      );
    return Object.assign(call, { prepared, params: lists, row, order });
  },
} as const;

function toCalls(given: Readonly<Record<string, Parameter>>): Sql {
  const columns = Object.keys(given).map((name) => sql.id(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
  return sql`unnest(${sql.join(Object.values(given), sql`, `)}) with ordinality as i (${sql.join([...columns, sql`ordinal`], sql`, `)})`;
}

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
