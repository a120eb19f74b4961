/**
 * What the console's session may be used for: these operations and nothing else, so that a fault of the page changes no more than the page
 * itself could (P6). Each has its own check of rights besides.
 */
import type { Route } from '#libs/contract';

/** By page. */
const operations: Readonly<Record<string, readonly string[]>> = {
  frame: ['whoami', 'logout'],
  overview: ['getOverview'],
  jobs: ['listJobs', 'getJob', 'redriveJobs', 'cancelJobs'],
  webhooks: ['listWebhooks', 'getWebhook', 'replayWebhooks'],
  pipelines: ['listPipelines', 'retryPipeline'],
  conversations: [
    'searchTranscripts',
    'getConversation',
    'getConversationSummary',
    'downloadTranscript',
    'getVideo',
    'downloadCaptions',
    'downloadAudio',
  ],
  threads: ['listThreads', 'getThread', 'takeThread', 'sayInThread', 'handThreadBack'],
  people: ['listPeople', 'getPerson', 'listPersonMemberships', 'listNotesOfPerson'],
  holons: ['listHolons', 'getHolon', 'listHolonMemberships', 'listHolonRelationships', 'listNotesOfHolon'],
  agents: ['listAgents', 'listAgentKnowledge', 'approveAgentKnowledge', 'rejectAgentKnowledge'],
  endpoints: [
    'listWebhookEndpoints',
    'getWebhookEndpoint',
    'updateWebhookEndpoint',
    'testWebhookEndpoint',
    'listWebhookDeliveries',
    'redeliverWebhook',
    'recoverWebhookEndpoint',
  ],
  events: ['listEvents'],
  audit: ['listAudit'],
  keys: ['listKeys', 'createKey', 'getKey', 'rotateKey', 'revokeKey'],
};

/**
 * Says whether the route that a request will come to is one of the console's operations.
 * @throws Error when an operation is in no route.
 */
export function createReach(routes: readonly Route[]): (method: string, path: string) => boolean {
  const wanted = new Set(Object.values(operations).flat());
  const known = new Set(routes.map(({ operationId }) => operationId));
  for (const id of wanted) if (!known.has(id)) throw new Error(`the console asks for ${id}, which no route is`);
  // Fixed segments before parameters, as the router has them: `/conversations/search` is no conversation.
  const table = routes
    .map(({ method, path, operationId }) => ({ method: method as string, segments: split(path), isWithin: wanted.has(operationId) }))
    .toSorted((left, right) => (orderOf(left.segments) < orderOf(right.segments) ? -1 : 1));
  return (method, path) => {
    const given = split(path);
    const asked = method === 'HEAD' ? 'GET' : method;
    return table.find((item) => item.method === asked && matches(item.segments, given))?.isWithin === true;
  };
}

function split(path: string): string[] {
  return path.replace(/(?<=.)\/$/, '').split('/');
}

function orderOf(segments: readonly string[]): string {
  return segments.map((part) => (part.startsWith('{') ? '\u{10ffff}' : part)).join('/');
}

/** `{name}` stands for one segment that is not empty. */
function matches(template: readonly string[], given: readonly string[]): boolean {
  const fits = (part: string, index: number): boolean => (part.startsWith('{') ? given[index] !== '' : part === given[index]);
  return template.length === given.length && template.every(fits);
}
