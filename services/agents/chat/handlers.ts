/** Checks a visitor's message in a fixed order, then runs the turn (rules/agents#visitor-chat; D33a, C1). */
import { AppError, notFound, unavailable } from '#libs/infrastructure/errors';
import { type Handlers, liveStream, type RequestContext } from '#libs/infrastructure/nats';
import type { RequestOf, Static } from '#libs/infrastructure/contract';
import { isBlank } from '#libs/infrastructure/text';
import { findAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { visitorKey } from './index.ts';
import type { AgentChatOut } from './contract.ts';
import { PartialReply, writeEvents } from './reply-events.ts';
import { visitorThreadKey, visitorTurnKey } from './rules.ts';
import type { RecordedTurn } from './runtime.ts';
import { findVisitor } from './statements.ts';
import { TurnFailure } from './turn-queue.ts';

type ChatDependencies = Pick<Dependencies, 'admit' | 'db' | 'html' | 'runtime' | 'stopping'>;

/** Time reserved before the caller's deadline for sending the reply. */
const replyMarginMs = 1_000;

/** Shown by clients that display only the reply (H2). It is not a message, so it is not recorded. */
const takeoverNotice = '<i>A person has taken over this conversation and will answer here.</i>';

type Message = RequestOf<typeof agents.rpcs.sendChatMessage>;
type Answer = Static<typeof AgentChatOut>;

export function createChatHandlers(
  deps: ChatDependencies,
): Pick<Handlers<typeof agents>, 'sendChatMessage' | 'streamChatMessage'> {
  const { db, runtime, admit } = deps;

  /** Returns the visitor of a turn. A repeated first message belongs to the visitor that the first attempt created. */
  async function findVisitorOf(visitorId: string, turn: RecordedTurn): Promise<string> {
    const sender = turn.repeated ? (await findVisitor(db, { threadId: turn.threadId }))?.visitorId : visitorId;
    if (sender === undefined || sender === null) throw unavailable('The thread was deleted. Nothing was recorded.');
    return sender;
  }

  const answer = async (request: Message, context: RequestContext, reply?: PartialReply): Promise<Answer> => {
    const agent = await findAgent(db, request.agent_slug);
    if (agent === undefined) throw notFound();
    if (isBlank(request.body)) throw new AppError({ code: 'bad_request', message: 'Message body must not be empty' });
    if (runtime === undefined) throw unavailable('Agent runtime is not configured');
    const thread = await runtime.findThread(agent, request.visitor_id);
    await admit('visitor', visitorKey(agent.id, thread.kind === 'known' ? thread.visitorId : '', request.ip));
    await admit('address', `address:${request.ip}`); // This limit covers all visitors and agents (D71).
    const deadlineMs = context.deadlineMs - replyMarginMs;
    const timeout = AbortSignal.timeout(Math.max(0, deadlineMs - Date.now()));
    const { visitor_id: requestedVisitorId = null, idempotency_key: key = null, body } = request;
    const turn = await runtime
      .runTurn({
        agent,
        thread: { key: visitorThreadKey(thread.visitorId, agent.id), channel: 'web', visitorId: thread.visitorId },
        opening: thread.kind === 'known' ? 'existing' : 'new',
        body,
        idempotencyKey: key === null ? undefined : visitorTurnKey(requestedVisitorId, key, body),
        deadlineMs,
        signal: AbortSignal.any([timeout, deps.stopping]),
        logger: context.logger,
        listener: reply?.listener,
        onTakenOver: () => reply?.discard(),
      })
      .catch(rethrowTurnFailure);
    const visitorId = await findVisitorOf(thread.visitorId, turn);
    // The message that created the thread also counts for its new visitor.
    if (thread.kind === 'new')
      await admit('visitor', visitorKey(agent.id, visitorId, request.ip)).catch(() => undefined);
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
      const reply = new PartialReply();
      const turn = answer(request, context, reply);
      // Failures before the first text are errors of the call, as they are without streaming (C4).
      await Promise.race([turn, reply.waitForText()]);
      return liveStream(writeEvents(reply, turn, (text) => deps.html.renderUnfinished(text)));
    },
  };
}

function rethrowTurnFailure(error: unknown): never {
  if (!(error instanceof TurnFailure)) throw error;
  const reason =
    error.kind === 'over_budget' ? 'The agent has reached its limit for today' : 'The agent cannot reply now';
  const base = unavailable(`${reason}. Nothing was recorded.`);
  throw new AppError({ ...base.toBody(), details: { retry_after: error.retryAfter } }, { cause: error });
}
