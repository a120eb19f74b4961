/**
 * Operations that are allowed with a console session (P6). A fault of the page can therefore call only operations that
 * the page uses. Each operation also checks the rights of the account.
 */
import type { Route } from '#libs/infrastructure/contract';

/** Operation ids by page. */
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
 * Returns a function that checks whether a request belongs to an operation of the console.
 * @throws Error when an operation has no route
 */
export function createAllowedOperations(routes: readonly Route[]): (method: string, path: string) => boolean {
  const allowed = new Set(Object.values(operations).flat());
  const known = new Set(routes.map(({ operationId }) => operationId));
  for (const id of allowed) if (!known.has(id)) throw new Error(`operation ${id} of the console has no route`);
  // Fixed segments precede parameters, as in the router: `/conversations/search` is not the id of a conversation.
  const table = routes
    .map(({ method, path, operationId }) => ({
      method: method as string,
      segments: split(path),
      isAllowed: allowed.has(operationId),
    }))
    .toSorted((left, right) => (orderOf(left.segments) < orderOf(right.segments) ? -1 : 1));
  return (method, path) => {
    const segments = split(path);
    const routeMethod = method === 'HEAD' ? 'GET' : method;
    return table.find((item) => item.method === routeMethod && matches(item.segments, segments))?.isAllowed === true;
  };
}

function split(path: string): string[] {
  return path.replace(/(?<=.)\/$/, '').split('/');
}

function orderOf(segments: readonly string[]): string {
  return segments.map((part) => (part.startsWith('{') ? '\u{10ffff}' : part)).join('/');
}

/** Returns whether the path matches the template. `{name}` matches one segment that is not empty. */
function matches(template: readonly string[], segments: readonly string[]): boolean {
  const matchesPart = (part: string, index: number): boolean =>
    part.startsWith('{') ? segments[index] !== '' : part === segments[index];
  return template.length === segments.length && template.every(matchesPart);
}
