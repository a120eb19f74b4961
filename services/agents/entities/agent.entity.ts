/** Agents, and what the language model costs them. */
import { defineEntity, p } from '@mikro-orm/core';
import { bigint, emptyText, instant, jsonObject, madeAt } from './columns.ts';

export const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  schema: 'agents',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    prompt: emptyText(),
    infos: jsonObject(),
    /** Messaging secrets and settings; never served. */
    config: jsonObject(),
    createdAt: madeAt(),
    updatedAt: madeAt(),
  },
});

/** By agent, day (UTC) and purpose. */
export const ModelUsageSchema = defineEntity({
  name: 'ModelUsage',
  tableName: 'model_usage',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    day: p.string().columnType('date').primary(),
    purpose: p.text().primary(),
    calls: bigint().default(0),
    failedCalls: bigint().default(0),
    /** The model did not tell what they cost. */
    callsWithoutUsage: bigint().default(0),
    promptTokens: bigint().default(0),
    completionTokens: bigint().default(0),
    durationMs: bigint().default(0),
  },
});

/** The latest day (UTC) alone; a call adds an estimate before it and its difference after it. */
export const TokenBudgetSchema = defineEntity({
  name: 'TokenBudget',
  tableName: 'token_budgets',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    day: p.string().columnType('date'),
    tokens: bigint(),
  },
});

/** Times of admitted chat messages in the last minute; `infinity` marks a refused attempt. Unlogged. */
export const ChatHitSchema = defineEntity({
  name: 'ChatHit',
  tableName: 'chat_hits',
  schema: 'agents',
  properties: {
    key: p.text().primary(),
    hitAt: p.array().$type<string[]>().columnType('timestamptz[]'),
    updatedAt: instant(),
  },
});
