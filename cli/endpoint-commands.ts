/** `endpoints create|delete|rotate-secret` over HTTP (V5). */
import type { Command } from 'commander';
import type { CreateWebhookEndpointRequest } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { parseId, parseOffset } from './parse-options.ts';
import { describeObject } from './write-options.ts';

interface CreateOptions {
  readonly type?: string[];
  readonly description?: string;
}

export function registerEndpointCommands(group: Command, context: CliContext): void {
  group
    .command('create <url>')
    .description('Creates an endpoint of the account of the profile, and prints its secret, once')
    .option('--type <type...>', 'event types, or prefixes such as "person.*"; default: all')
    .option('--description <text>', 'purpose of the endpoint')
    .action(async (url: string, { type, description }: CreateOptions) => {
      const body: CreateWebhookEndpointRequest['body'] = {
        url,
        ...(type === undefined ? {} : { types: type }),
        ...(description === undefined ? {} : { description }),
      };
      const created = (await context.http((api) => api.createWebhookEndpoint({ body }))).body;
      printSecret(created, `Created endpoint ${created.endpoint.id}.`);
    });

  group
    .command('rotate-secret')
    .argument('<id>', 'endpoint', parseId)
    .description('Creates a new secret for an endpoint and prints it, once; deliveries have both signatures meanwhile')
    .option('--overlap-seconds <seconds>', 'default one day; 0 ends the old secret at once', parseOffset)
    .action(async (id: number, { overlapSeconds }: { overlapSeconds?: number }) => {
      const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
      const call = { path: { endpoint_id: id }, body };
      const rotated = (await context.http((api) => api.rotateWebhookSecret(call), `endpoint ${id}`)).body;
      printSecret(rotated, `Rotated the secret of endpoint ${id}.`);
    });

  withConfirmation(group.command('delete'))
    .argument('<id>', 'endpoint', parseId)
    .description('Deletes an endpoint with its deliveries')
    .action(async (id: number, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes endpoint ${id} and cannot be undone.`, String(id));
      await context.http((api) => api.deleteWebhookEndpoint({ path: { endpoint_id: id } }), `endpoint ${id}`);
      context.print({ deleted: id }, `Deleted endpoint ${id}.`);
    });

  function printSecret(reply: { endpoint: object; secret?: string }, done: string): void {
    context.print(
      reply,
      `${done} Copy the secret now, it is not shown again:`,
      reply.secret ?? '',
      describeObject({ ...reply.endpoint }),
    );
  }
}
