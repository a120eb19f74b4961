/** Agents, and what the language model costs them. */
import { columns, defineEntity, p } from '#libs/orm/entities';

export const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  schema: 'agents',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    prompt: columns.emptyText(),
    infos: columns.jsonObject(),
    /** Messaging secrets and settings; never served. */
    config: columns.jsonObject(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
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
    calls: columns.bigint().default(0),
    failedCalls: columns.bigint().default(0),
    /** The model did not tell what they cost. */
    callsWithoutUsage: columns.bigint().default(0),
    promptTokens: columns.bigint().default(0),
    completionTokens: columns.bigint().default(0),
    durationMs: columns.bigint().default(0),
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
    tokens: columns.bigint(),
  },
});

/** Latest whole answers in a row without unopened thoughts, of a model at an address. */
export const ThinkingHabitSchema = defineEntity({
  name: 'ThinkingHabit',
  tableName: 'thinking_habits',
  schema: 'agents',
  properties: {
    model: p.text().primary(),
    plainAnswers: p.integer(),
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
    updatedAt: columns.instant(),
  },
});
