/**
 * The model with its accounts: every call is counted for its agent and day and in the metrics, whether its answer is of use or not, and none is
 * made beyond the agent's tokens of the day (D71).
 */
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import { findTracer, type Metrics, errorTypeOf, serverAttributes, type Span, type SpanAttributes } from '#libs/telemetry';
import { estimateMessage, estimateTokens } from '../tokens.ts';
import { addUsage, type UsagePurpose } from './statements/usage.ts';
import type { TokenBudget } from './token-budget.ts';
import { type TextListener, type Model, type Completion, ModelFailure, type ModelUsage, type PromptMessage } from '#libs/openai';

/** What an answer is taken to cost before it is known. */
const assumedReplyTokens = 1_000;

export interface ModelRequest {
  /** Null: for no agent, so that no budget ends it; the metrics alone count it. */
  readonly agentId: number | null;
  readonly purpose: UsagePurpose | 'publishing';
  readonly messages: readonly PromptMessage[];
  readonly signal: AbortSignal;
  /** Hears the answer while it is written. */
  readonly listener?: TextListener | undefined;
}

export interface MeasuredModel {
  /** @throws ModelFailure; BudgetSpent before the model is asked */
  ask(call: ModelRequest): Promise<Completion>;
}

/** `models` names the model of each purpose; several may be the same. */
export function createMeasuredModel(deps: {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  models: Readonly<Record<ModelRequest['purpose'], Model>>;
  budget: TokenBudget;
}): MeasuredModel {
  const { db, logger, budget } = deps;
  const answers = deps.metrics.red('llm_requests', 'Chat completions asked of the language model', ['purpose']);
  const tokens = deps.metrics.counter('llm_tokens_total', 'Tokens that the language model reported', ['purpose', 'direction']);

  /** Accounts that cannot be kept are no reason to keep an answer back. */
  async function recordUsage(
    call: ModelRequest,
    took: CallResult,
    startedMs: number,
    spend: (tokens: number) => Promise<void>,
    traceparent?: string,
  ): Promise<void> {
    const { agentId, purpose } = call;
    const { outcome, usage } = took;
    const durationMs = performance.now() - startedMs;
    answers.observe({ purpose }, outcome, durationMs / 1000, traceparent);
    tokens.inc({ purpose, direction: 'in' }, usage.promptTokens ?? 0);
    tokens.inc({ purpose, direction: 'out' }, usage.completionTokens ?? 0);
    if (agentId === null || purpose === 'publishing') return;
    const { promptTokens, completionTokens } = usage;
    const used = {
      agentId,
      purpose,
      failed: outcome !== 'ok',
      isUnreported: promptTokens === undefined && completionTokens === undefined,
      promptTokens: Math.round(promptTokens ?? 0),
      completionTokens: Math.round(completionTokens ?? 0),
      durationMs: Math.round(durationMs),
    };
    await Promise.all([addUsage(db, used), spend(costOf(call, took))]).catch((error: unknown) => {
      logger.warn({ err: error }, 'use of the language model could not be written down');
    });
  }

  return {
    ask: async (call) => {
      const { agentId, purpose, messages, signal, listener } = call;
      const spend = agentId === null ? async () => undefined : await budget.reserve(agentId, estimatePrompt(messages) + assumedReplyTokens);
      const startedMs = performance.now();
      const model = deps.models[purpose];
      const span = startSpan(purpose, model);
      try {
        const complete = (): Promise<Completion> => model.answer(messages, signal, listener);
        const answer = await (span === undefined ? complete() : span.run(complete));
        span?.end({ attributes: usageAttributes(answer) });
        await recordUsage(call, { outcome: 'ok', ...answer }, startedMs, spend, span?.traceparent);
        return answer;
      } catch (error) {
        const isFailure = error instanceof ModelFailure;
        span?.end({ error: isFailure ? error.kind : errorTypeOf(error), attributes: isFailure ? usageAttributes(error) : {} });
        if (isFailure) await recordUsage(call, { outcome: error.kind, usage: error.usage }, startedMs, spend, span?.traceparent);
        throw error;
      }
    },
  };
}

/** The servers speak OpenAI's protocol; who runs them is not known. */
function startSpan(purpose: ModelRequest['purpose'], { name, baseUrl }: Model): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const server = URL.parse(baseUrl);
  return tracer.startChild(`llm ${purpose}`, 'client', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': name,
    ...(server === null ? {} : serverAttributes(server)),
  });
}

function usageAttributes({ usage, model }: { readonly usage: ModelUsage; readonly model?: string }): SpanAttributes {
  const { promptTokens, completionTokens } = usage;
  return {
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(promptTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': promptTokens }),
    ...(completionTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': completionTokens }),
  };
}

interface CallResult {
  readonly outcome: 'ok' | ModelFailure['kind'];
  readonly usage: ModelUsage;
  readonly written?: string;
}

/** Nothing was generated. */
const unbilled = new Set<CallResult['outcome']>(['connection', 'status']);

/** Tokens of a call as the model reported them, else as they are estimated. */
function costOf({ messages }: ModelRequest, { outcome, usage, written }: CallResult): number {
  const { promptTokens, completionTokens } = usage;
  if (unbilled.has(outcome)) return (promptTokens ?? 0) + (completionTokens ?? 0);
  return (
    (promptTokens ?? estimatePrompt(messages)) +
    (completionTokens ?? (written === undefined ? assumedReplyTokens : estimateTokens(written)))
  );
}

function estimatePrompt(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, { content }) => sum + estimateMessage(content), 0);
}
