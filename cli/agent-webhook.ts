/**
 * `agents set-webhook SLUG --url BASE` and `agents webhook-info SLUG`: the address to which Telegram sends updates for
 * an agent.
 */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { fields } from './output/table.ts';

export function registerWebhookCommands(group: Command, context: CliContext): void {
  group
    .command('set-webhook <slug>')
    .description("Registers the agent's webhook with Telegram: address, secret and update types")
    .requiredOption('--url <base>', 'public base URL of the platform, e.g. https://coherence.example.org')
    .action(async (slug: string, { url }: { url: string }) => {
      const call = { path: { slug }, body: { base_url: url } };
      const { body: reply } = await context.http((api) => api.setAgentWebhook(call));
      context.print(
        reply,
        `Telegram sends updates for ${slug} to ${reply.url}: ${reply.allowed_updates.join(', ')}.`,
        ...(reply.has_secret
          ? []
          : ['The agent has no config.messaging.webhook_secret: updates from other senders are accepted.']),
      );
    });

  group
    .command('webhook-info <slug>')
    .description("Shows the agent's webhook as Telegram reports it")
    .action(async (slug: string) => {
      const { body: info } = await context.http((api) => api.lookUpAgentWebhook({ path: { slug } }));
      const failedAt = info.last_error_date === null ? null : new Date(info.last_error_date * 1000).toISOString();
      context.print(
        info,
        fields({
          bot: info.username === null ? 'unknown' : `@${info.username}`,
          address: info.url === '' ? 'none' : info.url,
          'waiting updates': info.pending_update_count,
          'last failure': info.last_error_message === null ? null : toned(info.last_error_message, 'bad'),
          'failed at': info.last_error_message === null ? null : moment(failedAt),
        }),
      );
    });
}
