/** `agents.chat.send` and `agents.chat.stream`: the checks of a visitor's message in their order, then the turn (rules/agents#visitor-chat; D33a, C1). */
import { AppError, notFound, unavailable } from '#libs/errors';
import { type Handlers, liveStream, type RequestContext } from '#libs/nats';
import type { RequestOf, Static } from '#libs/contract';
import type { Database } from '#libs/orm';
import { isBlank } from '#libs/text';
import { findAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { type Admit, visitorKey } from './admission.ts';
import type { AgentChatOut } from './contract.ts';
import { PartialReply, writeEvents } from './reply-events.ts';
import { visitorThreadKey, visitorTurnKey } from './rules/visitor.ts';
import type { ChatRuntime, RecordedTurn } from './runtime.ts';
import { findVisitor } from './statements/threads.ts';
import { TurnFailure } from './turn-failure.ts';

export interface ChatHandlerDependencies {
  readonly db: Database;
  /** Undefined when no language model is configured. */
  readonly runtime: ChatRuntime | undefined;
  readonly html: MessagingHtml;
  readonly admit: Admit;
  /** Aborts when the service stops and can wait no longer. */
  readonly stopping: AbortSignal;
}

/** Time in which an answer must be ready before the caller gives up. */
const replyMarginMs = 1_000;

/** For who shows what comes and knows no more (H2); nobody's words, so it is recorded nowhere. */
const takeoverNotice = '<i>A person has taken over this conversation and will answer here.</i>';

type Message = RequestOf<typeof agents.rpcs.sendChatMessage>;
type Answer = Static<typeof AgentChatOut>;

export function createChatHandlers(deps: ChatHandlerDependencies): Pick<Handlers<typeof agents>, 'sendChatMessage' | 'streamChatMessage'> {
  const { db, runtime, admit } = deps;

  /** Whoever sends a first message again is the visitor of the first time. */
  async function findVisitorOf(visitorId: string, turn: RecordedTurn): Promise<string> {
    const sender = turn.repeated ? (await findVisitor(db, { threadId: turn.threadId }))?.visitorId : visitorId;
    if (sender === undefined || sender === null) throw unavailable('The thread is gone; nothing was recorded');
    return sender;
  }

  const answer = async (request: Message, context: RequestContext, words?: PartialReply): Promise<Answer> => {
    const agent = await findAgent(db, request.agent_slug);
    if (agent === undefined) throw notFound();
    if (isBlank(request.body)) throw new AppError({ code: 'bad_request', message: 'Message body must not be empty' });
    if (runtime === undefined) throw unavailable('Agent runtime is not configured');
    const thread = await runtime.findThread(agent, request.visitor_id);
    await admit('visitor', visitorKey(agent.id, thread.kind === 'known' ? thread.visitorId : '', request.ip));
    await admit('address', `address:${request.ip}`); // D71: over all visitors and agents
    const deadlineMs = context.deadlineMs - replyMarginMs;
    const timeout = AbortSignal.timeout(Math.max(0, deadlineMs - Date.now()));
    const { visitor_id: given = null, idempotency_key: name = null, body } = request;
    const turn = await runtime
      .runTurn({
        agent,
        thread: { key: visitorThreadKey(thread.visitorId, agent.id), channel: 'web', visitorId: thread.visitorId },
        opening: thread.kind === 'known' ? 'existing' : 'new',
        body,
        idempotencyKey: name === null ? undefined : visitorTurnKey(given, name, body),
        deadlineMs,
        signal: AbortSignal.any([timeout, deps.stopping]),
        logger: context.logger,
        listener: words?.listener,
        onTakenOver: () => words?.discard(),
      })
      .catch(rethrowTurnFailure);
    const visitorId = await findVisitorOf(thread.visitorId, turn);
    // The message that opened the thread counts for its visitor too.
    if (thread.kind === 'new') await admit('visitor', visitorKey(agent.id, visitorId, request.ip)).catch(() => undefined);
    return {
      visitor_id: visitorId,
      thread_key: visitorThreadKey(visitorId, agent.id),
      human_html: turn.humanHtml,
      agent_html: turn.agentHtml ?? takeoverNotice,
      created_at: turn.createdAt.replace(/Z$/, '+00:00'),
      ...(turn.agentHtml === null ? { waits_for: 'person' } : {}),
    };
  };

  return {
    sendChatMessage: (request, context) => answer(request, context),
    streamChatMessage: async (request, context) => {
      const words = new PartialReply();
      const turn = answer(request, context, words);
      // What fails before the first word is the failure of the call, as without a stream (C4).
      await Promise.race([turn, words.waitForText()]);
      return liveStream(writeEvents(words, turn, (text) => deps.html.renderUnfinished(text)));
    },
  };
}

function rethrowTurnFailure(error: unknown): never {
  if (!(error instanceof TurnFailure)) throw error;
  const reason = error.kind === 'over_budget' ? 'The agent has answered as much as it may today' : 'The agent cannot answer now';
  const base = unavailable(`${reason}; nothing was recorded`);
  throw new AppError({ ...base.toBody(), details: { retry_after: error.retryAfter } }, { cause: error });
}
