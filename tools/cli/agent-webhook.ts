/** `agents set-webhook SLUG --url BASE` and `agents webhook-info SLUG`: the address under which Telegram reaches an agent. */
import type { Command } from 'commander';
import { agents } from '#services/agents';
import type { CliContext } from './context.ts';

export function registerWebhookCommands(group: Command, context: CliContext): void {
  group
    .command('set-webhook <slug>')
    .description("Registers the agent's webhook with Telegram, its secret and the updates that are worked")
    .requiredOption('--url <base>', 'public base URL of the platform, e.g. https://coherence.example.org')
    .option('--json', 'print what was registered as JSON')
    .action(async (slug: string, { url, json }: { url: string; json?: true }) => {
      const reply = await context.call(agents.rpcs.setWebhook, { slug, base_url: url });
      if (json === true) {
        context.printJson(reply);
        return;
      }
      context.printLine(`Telegram sends updates of ${slug} to ${reply.url}: ${reply.allowed_updates.join(', ')}.`);
      if (!reply.has_secret) context.printLine('The agent has no config.messaging.webhook_secret: anybody may send updates in its name.');
    });

  group
    .command('webhook-info <slug>')
    .description("Shows what Telegram knows about the agent's webhook")
    .option('--json', 'print it as JSON')
    .action(async (slug: string, { json }: { json?: true }) => {
      const info = await context.call(agents.rpcs.getWebhookInfo, { slug });
      if (json === true) {
        context.printJson(info);
        return;
      }
      context.printLine(`bot: ${info.username === null ? 'unknown' : `@${info.username}`}`);
      context.printLine(`address: ${info.url === '' ? 'none' : info.url}`);
      context.printLine(`waiting updates: ${info.pending_update_count}`);
      if (info.last_error_message !== null) {
        const at = info.last_error_date === null ? '' : ` at ${new Date(info.last_error_date * 1000).toISOString()}`;
        context.printLine(`last failure${at}: ${info.last_error_message}`);
      }
    });
}
