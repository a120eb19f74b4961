/**
 * `endpoints list|show|deliveries|test|redeliver|recover|disable|enable`: webhook endpoints and their deliveries
 * (rules/cli#admin-cli; V5, V11).
 */
import { Option, type Command } from 'commander';
import type { GetWebhookEndpointReply, ListWebhookDeliveriesReply } from '../clients/typescript/operations.ts';
import { type OffsetPage, withConfirmation, withOffsetPages, withPages, withSince } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { registerEndpointCommands } from './endpoint-commands.ts';
import { type Cell, moment, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId } from './parse-options.ts';

type Endpoint = GetWebhookEndpointReply['body']['endpoint'];
type Delivery = ListWebhookDeliveriesReply['body']['items'][number];

interface ListOptions extends OffsetPage {
  readonly account?: number;
}

interface DeliveriesOptions {
  status?: Delivery['status'];
  limit: number;
  cursor?: string;
}

export function register(group: Command, context: CliContext): void {
  registerEndpointCommands(group, context);
  withOffsetPages(group.command('list'), 'endpoints')
    .description('Lists endpoints, newest first')
    .option('--account <id>', 'only endpoints of this account', parseId)
    .action(async ({ account, limit, cursor }: ListOptions) => {
      const filter = account === undefined ? {} : { account_id: account };
      const page = await readPages({ limit, cursor: String(cursor) }, async (request) => {
        const query = { ...filter, limit: request.limit, offset: Number(request.cursor) };
        const { items } = (await context.http((api) => api.listWebhookEndpoints({ query }))).body;
        return { items, next: items.length < query.limit ? null : String(query.offset + items.length) };
      });
      context.print(page.items, table(page.items, columns, 'No endpoints.'), ...describeNext(page));
    });

  group
    .command('show')
    .description('Shows an endpoint')
    .argument('<id>', 'endpoint', parseId)
    .action(async (id: number) => {
      const call = { path: { endpoint_id: id } };
      const { endpoint } = (await context.http((api) => api.getWebhookEndpoint(call), `endpoint ${id}`)).body;
      context.print(endpoint, describe(endpoint));
    });

  withPages(group.command('deliveries'), 'deliveries', { preset: 50 })
    .description('Lists the deliveries of an endpoint, newest first')
    .argument('<id>', 'endpoint', parseId)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status').choices(['pending', 'delivered', 'failed']),
    )
    .action(async (id: number, { status, ...pages }: DeliveriesOptions) => {
      const filter = status === undefined ? {} : { status };
      const page = await readPages(pages, async (request) => {
        const call = { path: { endpoint_id: id }, query: { ...filter, ...request } };
        return (await context.http((api) => api.listWebhookDeliveries(call), `endpoint ${id}`)).body;
      });
      context.print(page.items, table(page.items, deliveryColumns, 'No deliveries.'), ...describeNext(page));
    });

  group
    .command('test')
    .description('Sends a test event, which does not appear in the feed')
    .argument('<id>', 'endpoint', parseId)
    .action(async (id: number) => {
      const call = { path: { endpoint_id: id } };
      const { delivery } = (await context.http((api) => api.testWebhookEndpoint(call), `endpoint ${id}`)).body;
      context.print(delivery, `Queued: ${delivery.event_id}. See the result with: endpoints deliveries ${id}`);
    });

  group
    .command('redeliver')
    .description('Sends an event again, delivered or not')
    .argument('<id>', 'endpoint', parseId)
    .argument('<delivery>', 'id, as printed by `endpoints deliveries`')
    .action(async (id: number, deliveryId: string) => {
      const call = { path: { endpoint_id: id, delivery_id: deliveryId } };
      const subject = `delivery ${deliveryId} of endpoint ${id}`;
      const { delivery } = (await context.http((api) => api.redeliverWebhook(call), subject)).body;
      context.print(delivery, `Queued again: ${delivery.event_id}. See the result with: endpoints deliveries ${id}`);
    });

  withSince(group.command('recover'), 'events', { isRequired: true })
    .description('Sends undelivered events since a time')
    .argument('<id>', 'endpoint', parseId)
    .action(async (id: number, { since }: { since: string }) => {
      const call = { path: { endpoint_id: id }, body: { since } };
      const { endpoint } = (await context.http((api) => api.recoverWebhookEndpoint(call), `endpoint ${id}`)).body;
      context.print(endpoint, `Sending undelivered events since ${since}.`);
    });

  withConfirmation(group.command('disable'))
    .description('Disables an endpoint and drops its pending deliveries')
    .argument('<id>', 'endpoint', parseId)
    .action(async (id: number, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This disables endpoint ${id} and drops its pending deliveries.`, 'disable');
      await setDisabled(id, true);
    });

  group
    .command('enable')
    .description('Enables an endpoint for new events; use `recover` for missed ones')
    .argument('<id>', 'endpoint', parseId)
    .action((id: number) => setDisabled(id, false));

  async function setDisabled(id: number, disabled: boolean): Promise<void> {
    const call = { path: { endpoint_id: id }, body: { disabled } };
    const { endpoint } = (await context.http((api) => api.updateWebhookEndpoint(call), `endpoint ${id}`)).body;
    context.print(endpoint, describe(endpoint));
  }
}

const columns = {
  ID: ({ id }: Endpoint) => id,
  ACCOUNT: ({ account_id: accountId }: Endpoint) => accountId,
  URL: ({ url }: Endpoint) => url,
  STATE: stateOf,
  TYPES: ({ types }: Endpoint) => types?.join(' ') ?? 'all',
  DESCRIPTION: ({ description }: Endpoint) => description,
};

const deliveryColumns = {
  ID: ({ id }: Delivery) => id,
  EVENT: ({ event_id: eventId }: Delivery) => eventId,
  STATUS: ({ status }: Delivery) =>
    toned(status, ({ pending: 'wait', delivered: 'good', failed: 'bad' } as const)[status]),
  ATTEMPTS: ({ attempts }: Delivery) => attempts.length,
  LAST: ({ attempts }: Delivery) => moment(attempts.at(-1)?.at ?? null),
  ANSWER: ({ attempts }: Delivery) => attempts.at(-1)?.status_code ?? attempts.at(-1)?.error,
  NEXT: ({ next_attempt_at: at }: Delivery) => moment(at),
};

function stateOf({ disabled, disabled_reason: reason, failing_since: failingSince }: Endpoint): Cell {
  if (disabled) return toned(`disabled (${reason ?? ''})`, 'dim');
  return failingSince === null ? toned('active', 'good') : toned('failing', 'bad');
}

function describe(endpoint: Endpoint): View {
  return fields({
    id: endpoint.id,
    account: endpoint.account_id,
    url: endpoint.url,
    state: stateOf(endpoint),
    'failing since': moment(endpoint.failing_since),
    types: endpoint.types?.join(' ') ?? 'all',
    description: endpoint.description,
    created: moment(endpoint.created_at),
    recovering: endpoint.recovering,
    'old secret until': endpoint.rotating_until === null ? 'ended' : moment(endpoint.rotating_until),
  });
}
