/** The pages of the console, in the order of its navigation. */
import { AgentPage } from './agent-page.js';
import { AgentsPage } from './agents-page.js';
import { AuditPage } from './audit-page.js';
import { ConversationPage } from './conversation-page.js';
import { ConversationsPage } from './conversations-page.js';
import { EndpointPage } from './endpoint-page.js';
import { EndpointsPage } from './endpoints-page.js';
import { EventsPage } from './events-page.js';
import { HolonPage, HolonsPage } from './holon-pages.js';
import { JobPage } from './job-page.js';
import { JobsPage } from './jobs-page.js';
import { KeyPage } from './key-page.js';
import { KeysPage } from './keys-page.js';
import { OverviewPage } from './overview-page.js';
import { PeoplePage, PersonPage } from './people-pages.js';
import { PipelinesPage } from './pipelines-page.js';
import { ThreadPage } from './thread-page.js';
import { ThreadsPage } from './threads-page.js';
import { WebhookPage } from './webhook-page.js';
import { WebhooksPage } from './webhooks-page.js';

/**
 * @typedef {{ query: URLSearchParams, names: readonly string[] }} PageProperties `names`: the path segments after the
 * page
 */
/** @typedef {(properties: PageProperties) => unknown} PageView */

/**
 * @type {readonly { name: string, title: string, views: readonly (PageView | undefined)[] }[]} `views[n]` is the view
 * for `n` path segments after the page
 */
export const pages = [
  { name: 'overview', title: 'Overview', views: [OverviewPage] },
  { name: 'jobs', title: 'Jobs', views: [JobsPage, undefined, JobPage] },
  { name: 'webhooks', title: 'Webhooks', views: [WebhooksPage, WebhookPage] },
  { name: 'pipelines', title: 'Pipelines', views: [PipelinesPage] },
  { name: 'conversations', title: 'Conversations', views: [ConversationsPage, ConversationPage] },
  { name: 'threads', title: 'Threads', views: [ThreadsPage, ThreadPage] },
  { name: 'people', title: 'People', views: [PeoplePage, PersonPage] },
  { name: 'holons', title: 'Holons', views: [HolonsPage, HolonPage] },
  { name: 'agents', title: 'Agents', views: [AgentsPage, AgentPage] },
  { name: 'events', title: 'Events', views: [EventsPage] },
  { name: 'endpoints', title: 'Endpoints', views: [EndpointsPage, EndpointPage] },
  { name: 'audit', title: 'Audit', views: [AuditPage] },
  { name: 'keys', title: 'Keys', views: [KeysPage, KeyPage] },
];

/**
 * @param {string} path
 * @returns {{ name: string, View: PageView, names: string[] } | undefined}
 */
export function findPage(path) {
  const [, name = pages[0]?.name ?? '', ...names] = path.split('/');
  const page = pages.find((item) => item.name === name);
  const View = page?.views[names.length];
  return View === undefined ? undefined : { name, View, names: names.map(decode) };
}

/** @param {string} name */
function decode(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
