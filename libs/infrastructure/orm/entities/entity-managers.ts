/** Creates units of work, each on the connection of an open transaction. */
import { p } from '@mikro-orm/core';
import { type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Kysely } from 'kysely';
import type { JsonObject } from '#libs/infrastructure/json';
import type { Tx } from '../database.ts';
import { createDialect, PoolDriver, TransactionDriver } from './dialect.ts';
import { connectionOf } from '../transaction.ts';

export type Entities = NonNullable<Options['entities']>;

export interface EntityManagers {
  /** Created on first use: reading the entities of a service takes 30 to 80 ms. */
  readonly orm: MikroORM;
  /**
   * Returns the unit of work of this transaction; every call returns the same one. It is flushed after the work of the
   * transaction.
   */
  get(tx: Tx): Promise<EntityManager>;
}

export function createEntityManagers({
  schema,
  entities,
}: {
  readonly schema: string;
  readonly entities: Entities;
}): EntityManagers {
  let orm: MikroORM | undefined;
  const units = new WeakMap<Tx, Promise<EntityManager>>();
  const find = (): MikroORM => (orm ??= createOrm(schema, entities));
  const begin = async (tx: Tx): Promise<EntityManager> => {
    const em = find().em.fork();
    const kysely = new Kysely<unknown>({ dialect: createDialect(() => new TransactionDriver(connectionOf(tx))) });
    em.setTransactionContext(await kysely.startTransaction().execute());
    tx.beforeFlush(() => em.flush());
    return em;
  };
  return {
    get orm() {
      return find();
    },
    get: (tx) => {
      const unit = units.get(tx) ?? begin(tx);
      units.set(tx, unit);
      return unit;
    },
  };
}

function createOrm(schema: string, entities: Entities): MikroORM {
  return new MikroORM({
    entities,
    dbName: 'postgres', // has no effect: connections are only used from transactions
    schema,
    driverOptions: createDialect(() => new PoolDriver({ connect: refuse })),
    discovery: { warnWhenNoEntities: false },
    implicitTransactions: true,
    ensureDatabase: false,
    debug: false,
  });
}

async function refuse(): Promise<never> {
  throw new Error('A unit of work runs in a transaction');
}

const instant = () => p.string().columnType('timestamptz');

export const columns = {
  /** An instant as PostgreSQL text, in microseconds. */
  instant,

  /** An instant set by the database on insert. */
  now: () => instant().defaultRaw('clock_timestamp()'),

  /** A JSON object with lossless numbers; default `{}`. */
  jsonObject: () => p.json().$type<JsonObject>().defaultRaw(`'{}'`),

  /** A 64-bit integer within the range of a double. */
  bigint: () => p.bigint('number'),

  /** Text; default empty. */
  emptyText: () => p.text().default(''),

  /** A list of ids. */
  ids: () => p.array().$type<number[]>().columnType('integer[]').default([]),
} as const;
