/** What is remembered of threads, and what agents know from them. */
import { AgentSchema } from './agent.entity.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';
import { ThreadSchema } from './thread.entity.ts';

/** `version` grows with every change; a job that read an older one writes nothing. `upToTurn`: the last turn that it was made from. */
export const ThreadMemorySchema = defineEntity({
  name: 'ThreadMemory',
  tableName: 'thread_memories',
  schema: 'agents',
  properties: {
    thread: () => p.manyToOne(ThreadSchema).primary().ref(),
    summary: columns.emptyText(),
    upToTurn: p.integer().default(0),
    version: p.integer().default(1),
    updatedAt: columns.now(),
  },
});

/** `thread` is where a fact comes from, knowledge of the agent too: it goes when the thread goes. */
export const MemoryFactSchema = defineEntity({
  name: 'MemoryFact',
  tableName: 'memory_facts',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    kind: p.text(),
    body: p.text(),
    upToTurn: p.integer(),
    createdAt: columns.now(),
    /** Knowledge only: when an operator let the agent say it; null = nobody has. */
    approvedAt: columns.instant().nullable(),
  },
});

export const AgentMemorySchema = defineEntity({
  name: 'AgentMemory',
  tableName: 'agent_memories',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    summary: columns.emptyText(),
    version: p.integer().default(1),
    updatedAt: columns.now(),
  },
});
