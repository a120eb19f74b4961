/** The model with its accounts: every call is counted for its agent and day and in the metrics, whether its answer is of use or not. */
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import { getTracer, type Metrics, traceWork } from '#libs/telemetry';
import { addUsage, type UsagePurpose } from '../repositories/usage.ts';
import { type Model, type ModelAnswer, ModelFailure, type ModelUsage, type PromptMessage } from '#libs/openai';

export interface ModelCall {
  /** Null: for no agent; the metrics alone count it. */
  readonly agentId: number | null;
  readonly purpose: UsagePurpose | 'publishing';
  readonly messages: readonly PromptMessage[];
  readonly signal: AbortSignal;
}

export interface MeasuredModel {
  /** @throws ModelFailure */
  ask(call: ModelCall): Promise<ModelAnswer>;
}

/** `models` names the model of each purpose; several may be the same. */
export function createMeasuredModel(deps: {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  models: Readonly<Record<ModelCall['purpose'], Model>>;
}): MeasuredModel {
  const { db, logger } = deps;
  const answers = deps.metrics.red('llm_requests', 'Chat completions asked of the language model', ['purpose']);
  const tokens = deps.metrics.counter('llm_tokens_total', 'Tokens that the language model reported', ['purpose', 'direction']);

  /** Accounts that cannot be kept are no reason to keep an answer back. */
  async function account(call: ModelCall, outcome: string, usage: ModelUsage, startedMs: number): Promise<void> {
    const { agentId, purpose } = call;
    const durationMs = performance.now() - startedMs;
    answers.observe({ purpose }, outcome, durationMs / 1000);
    tokens.inc({ purpose, direction: 'in' }, usage.promptTokens ?? 0);
    tokens.inc({ purpose, direction: 'out' }, usage.completionTokens ?? 0);
    if (agentId === null || purpose === 'publishing') return;
    await addUsage(db, { agentId, purpose, failed: outcome !== 'ok', durationMs, ...usage }).catch((error: unknown) => {
      logger.warn({ err: error }, 'use of the language model could not be written down');
    });
  }

  return {
    ask: async (call) => {
      const startedMs = performance.now();
      try {
        const span = getTracer()?.startChild(`llm ${call.purpose}`, 'client', { 'gen_ai.operation.name': 'chat' });
        const answer = await traceWork(span, () => deps.models[call.purpose].answer(call.messages, call.signal));
        await account(call, 'ok', answer.usage, startedMs);
        return answer;
      } catch (error) {
        if (error instanceof ModelFailure) await account(call, error.kind, error.usage, startedMs);
        throw error;
      }
    },
  };
}
