/**
 * The daily budget of an agent's tokens (D71), for whatever the model is asked on its behalf. A call takes an estimate before it begins and
 * corrects it when its cost is known, so that calls at the same time see each other: the budget is overshot at most by what those under way
 * cost beyond their estimates, and one estimate. A process that dies leaves its estimate counted.
 */
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { correctTokens, findMaxTokens, reserveTokens } from './statements/token-budget.ts';

/** The agent has used its tokens of the day. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetSpent';
  /** Seconds until the next day (UTC) begins. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('The tokens of the agent for today are used up');
    this.retryAfter = retryAfter;
  }
}

export interface TokenBudget {
  /** @returns what is called with the cost when it is known. @throws BudgetSpent */
  reserve(agentId: number, estimatedTokens: number): Promise<(tokens: number) => Promise<void>>;
}

/** @param dailyTokens of each agent; 0 = no budget. */
export function createTokenBudget({ db, metrics, dailyTokens }: { db: Database; metrics: Metrics; dailyTokens: number }): TokenBudget {
  const refused = metrics.counter('llm_budget_refused_total', 'Calls that were not made because the tokens of the day were used up');
  metrics.gauge('llm_budget_used_ratio', 'Share of its tokens of the day that the agent which used most has used', [], async (gauge) => {
    gauge.set(dailyTokens === 0 ? 0 : (await findMaxTokens(db)).tokens / dailyTokens);
  });
  return {
    reserve: async (agentId, estimatedTokens) => {
      if (dailyTokens === 0) return async () => undefined;
      const { day, secondsLeft } = await reserveTokens(db, { agentId, tokens: estimatedTokens, limit: dailyTokens });
      if (day === null) {
        refused.inc();
        throw new BudgetExceeded(secondsLeft);
      }
      return (tokens) => correctTokens(db, { agentId, day, difference: tokens - estimatedTokens });
    },
  };
}
