/**
 * Declares statements with a name, named parameters and the columns of their rows; a declared statement is called as a
 * function. PostgreSQL parses and plans each statement once per connection (docs/adr/mikroorm-and-sql-statements.md).
 */
import { Parameter, render, type Sql, sql, type ParamsOf, type RowOf, type Shape, SqlType, t } from './sql.ts';

/** A named statement with numbered parameters. */
export interface PreparedStatement extends StatementOptions {
  readonly name: string;
  readonly text: string;
}

export interface StatementOptions {
  /**
   * When PostgreSQL plans the statement. `each-call`: for the values of every call, for statements whose best plan
   * depends on them (e.g. a name search). `once`: one generic plan, for joins of many tables whose planning takes
   * longer than execution. Default: PostgreSQL decides after some calls.
   */
  readonly planned?: 'each-call' | 'once';
  /**
   * Shares a connection with other pipelined statements of the same event loop turn. A slow statement delays the
   * statements after it, so this is only for reads of a few rows by key that never wait for locks. Default: a separate
   * connection.
   */
  readonly pipelined?: true;
}

/** A statement that runs many calls: each value is a list with one item per call. */
export interface CoalescedPrepared extends PreparedStatement {
  /** Index of the parameter that contains the id of the written row. */
  readonly key: number;
}

/** A database, or a transaction in a database. */
export interface Queryable {
  /**
   * Runs a statement and returns its rows. JSON, instants and dates are text; int8 is a number when a double represents
   * it exactly. Outside transactions, reads are retried when the connection is lost.
   */
  query<Row>(statement: PreparedStatement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Writes one row. Outside transactions, concurrent calls share a statement and a commit. @returns the row that the
   * statement returned for this call; undefined without one
   */
  coalesce<Row extends CoalescedRow>(
    statement: CoalescedPrepared,
    values: readonly unknown[],
  ): Promise<Row | undefined>;
}

/** A row of a coalesced statement; `ordinal` is the number of its call, from 1. */
export interface CoalescedRow {
  readonly ordinal: number;
}

/** A database that returns rows in batches. */
export interface Streamable {
  /** Returns batches of rows from a cursor, in constant memory. Leaving the loop ends the query. */
  stream<Row>(statement: PreparedStatement, values: readonly unknown[], options: StreamOptions): AsyncIterable<Row[]>;
}

export interface StreamOptions {
  /** Rows per batch. */
  readonly batchSize: number;
  /** Rows of the first batch; default `batchSize`. Set it if the first batch usually contains the whole result. */
  readonly firstBatchSize?: number;
  /** Planner settings for this query, e.g. `cursor_tuple_fraction`. */
  readonly planner?: Readonly<Record<string, string>>;
}

type NoParams = Readonly<Record<string, never>>;

/** Arguments of a call: the parameter values; no arguments if the statement has no parameters. */
type Values<Params extends Shape> = string extends keyof Params ? [] : [values: ParamsOf<Params>];

/** A declared statement. It is a function whose arguments are a database or transaction, and the parameter values. */
export interface DeclaredStatement<Params extends Shape, Columns extends Shape, Result> {
  (on: Queryable, ...values: Values<Params>): Promise<Result>;
  readonly prepared: PreparedStatement;
  readonly params: Params;
  /** Columns of the statement's rows. */
  readonly row: Columns;
  /** Names of the parameters in the order of their numbers. */
  readonly order: readonly string[];
}

/** A statement that may have any number of rows. */
export interface ManyStatement<Params extends Shape, Columns extends Shape> extends DeclaredStatement<
  Params,
  Columns,
  RowOf<Columns>[]
> {
  stream(on: Streamable, values: ParamsOf<Params>, options: StreamOptions): AsyncIterable<RowOf<Columns>[]>;
}

/** A write of one row. `prepared`, `params`, `row` and `order` describe the statement that runs many calls. */
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
  /** The parameter that contains the id of the written row. */
  readonly key: keyof Params & string;
  readonly row: Columns;
  /**
   * Builds the statement. `calls` is a table `i` with one row per call; its columns are the parameters in snake case.
   * The statement must return `i.ordinal`.
   */
  readonly sql: (calls: Sql) => Sql;
}

interface Declared<Params extends Shape> extends StatementOptions {
  /** Name that is unique within a service, at most 63 bytes. It is displayed in traces and `pg_prepared_statements`. */
  readonly name: string;
  /** Types of the parameters; absent when the statement has none. */
  readonly params?: Params;
  readonly sql: (params: { readonly [Name in keyof Params]: Parameter }) => Sql;
}

interface DeclaredWithRow<Params extends Shape, Columns extends Shape> extends Declared<Params> {
  readonly row: Columns;
}

/** Declares statements. Throws an Error for a malformed name or an unused parameter. */
export const statement = {
  /** Declares a statement with any number of rows. */
  many<Columns extends Shape, Params extends Shape = NoParams>(
    declared: DeclaredWithRow<Params, Columns>,
  ): ManyStatement<Params, Columns> {
    const many = declare(declared, declared.row, (rows: RowOf<Columns>[]) => rows);
    const stream = (
      on: Streamable,
      values: ParamsOf<Params>,
      options: StreamOptions,
    ): AsyncIterable<RowOf<Columns>[]> =>
      on.stream(
        many.prepared,
        many.order.map((name) => values[name]),
        options,
      );
    return Object.assign(many, { stream });
  },

  /** Declares a statement that returns the first row, or undefined. */
  maybeOne<Columns extends Shape, Params extends Shape = NoParams>(
    declared: DeclaredWithRow<Params, Columns>,
  ): DeclaredStatement<Params, Columns, RowOf<Columns> | undefined> {
    return declare(declared, declared.row, (rows: RowOf<Columns>[]) => rows[0]);
  },

  /**
   * Declares a statement that returns exactly one row, such as a count or an inserted row. A call throws an Error when
   * there is no row.
   */
  one<Columns extends Shape, Params extends Shape = NoParams>(
    declared: DeclaredWithRow<Params, Columns>,
  ): DeclaredStatement<Params, Columns, RowOf<Columns>> {
    return declare(declared, declared.row, (rows: RowOf<Columns>[]) => {
      const [row] = rows;
      if (row === undefined) throw new Error(`Statement "${declared.name}" returned no row`);
      return row;
    });
  },

  /** No row. */
  none<Params extends Shape = NoParams>(declared: Declared<Params>): DeclaredStatement<Params, NoParams, void> {
    return declare(declared, {}, () => undefined);
  },

  /**
   * Declares a frequent write of one row by id. Concurrent calls share one statement and one commit. A call returns its
   * row, or undefined when it did not write a row.
   */
  coalesced<Columns extends Shape, Params extends Shape>(
    declared: DeclaredCoalesced<Params, Columns>,
  ): CoalescedStatement<Params, Columns> {
    const { name, params, key, sql: write } = declared;
    const lists = Object.fromEntries(
      Object.entries(params).map(([item, type]) => [item, new SqlType<unknown>(`${type.name}[]`, [])]),
    );
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
  const columns = Object.keys(given).map((name) =>
    sql.id(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  );
  return sql`unnest(${sql.join(Object.values(given), sql`, `)}) with ordinality as i (${sql.join([...columns, sql`ordinal`], sql`, `)})`;
}

function declare<Params extends Shape, Columns extends Shape, Result>(
  { name, params = {} as Params, sql, planned, pipelined }: Declared<Params>,
  row: Columns,
  take: (rows: RowOf<Columns>[]) => Result,
): DeclaredStatement<Params, Columns, Result> {
  if (!/^[a-z][a-z0-9_.-]{0,62}$/.test(name)) throw new Error(`"${name}" is not a valid statement name`);
  const parameters = Object.fromEntries(Object.entries(params).map(([key, type]) => [key, new Parameter(key, type)]));
  const { text, names: order } = render(sql(parameters as { readonly [Name in keyof Params]: Parameter }));
  const unused = Object.keys(params).filter((key) => !order.includes(key));
  if (unused.length > 0) throw new Error(`Statement "${name}" does not use ${unused.join(', ')}`);
  const prepared: PreparedStatement = Object.freeze({
    name,
    text,
    ...(planned && { planned }),
    ...(pipelined && { pipelined }),
  });
  const call = (on: Queryable, values?: Readonly<Record<string, unknown>>): Promise<Result> =>
    on.query<RowOf<Columns>>(prepared, values === undefined ? [] : order.map((key) => values[key])).then(take);
  return Object.assign(call, { prepared, params, row, order });
}
