/** Threads with their messages, and who has the turn in them. */
import { AgentSchema } from './agent.entity.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';

/** One per visitor and agent, or per chat and agent. */
export const ThreadSchema = defineEntity({
  name: 'Thread',
  tableName: 'threads',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    threadKey: p.text(),
    channel: p.text(),
    /** Unguessable; whoever knows it may go on with the thread (D33a). */
    visitorId: p.text().nullable(),
    turnCount: p.integer().default(0),
    lastTicket: columns.bigint().default(0),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

/**
 * A turn is one `chat_visitor` and the `chat_agent` message that answers it, written together. While a person has the thread (H1) each message,
 * `chat_visitor` or `chat_operator`, is a turn of its own.
 */
export const MessageSchema = defineEntity({
  name: 'Message',
  tableName: 'messages',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    turn: p.integer(),
    noteType: p.text(),
    body: p.text(),
    html: p.text(),
    createdAt: columns.instant(),
    /** What the turn answers, of one agent: asked again, it is the same turn. */
    turnKey: p.text().nullable(),
    /** Who wrote it, where a thread has several writers: `telegram:user:<id>`. */
    sender: p.text().nullable(),
    /** Of a `chat_operator` message: who wrote it; null = with the admin CLI. */
    accountId: p.integer().nullable(),
  },
});

/** When a person answered the thread in the place of the agent; at most one goes on. */
export const ThreadTakeoverSchema = defineEntity({
  name: 'ThreadTakeover',
  tableName: 'thread_takeovers',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    /** Who has it; null = whoever uses the admin CLI. */
    accountId: p.integer().nullable(),
    takenAt: columns.now(),
    endedAt: columns.instant().nullable(),
  },
});

/** Who waits for or holds the turn of a thread: the lowest ticket whose lease runs. */
export const TurnTicketSchema = defineEntity({
  name: 'TurnTicket',
  tableName: 'turn_tickets',
  schema: 'agents',
  properties: {
    thread: () => p.manyToOne(ThreadSchema).primary().ref(),
    ticket: columns.bigint().primary(),
    leaseUntil: columns.instant(),
  },
});
