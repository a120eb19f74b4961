/** `agents show|create|update|delete` over HTTP (W6). */
import type { Command } from 'commander';
import type { CreateAgentRequest, UpdateAgentRequest } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { describeChanges, describeObject, readBody, withFields } from './write-options.ts';

interface WriteOptions {
  readonly from?: string;
}

const texts = { name: 'name', prompt: 'instructions of the agent' };

export function registerAgentCommands(group: Command, context: CliContext): void {
  group
    .command('show <slug>')
    .description('Shows an agent with its prompt and settings, without secrets')
    .action(async (slug: string) => {
      const call = { path: { slug } };
      const { agent } = (await context.http((api) => api.getWorkspaceAgent(call), `agent ${slug}`)).body;
      context.print(agent, describeObject(agent));
    });

  withFields(group.command('create <slug>').description('Creates an agent'), texts).action(
    async (slug: string, { from, ...options }: WriteOptions) => {
      const body = await readBody<CreateAgentRequest['body']>(from, { slug, ...options });
      const { agent } = (await context.http((api) => api.createAgent({ body }))).body;
      context.print(agent, `Created agent ${agent.slug}.`, describeObject(agent));
    },
  );

  withFields(group.command('update <slug>').description('Changes an agent'), texts).action(
    async (slug: string, { from, ...options }: WriteOptions) => {
      const body = await readBody<UpdateAgentRequest['body']>(from, options);
      const reply = (await context.http((api) => api.updateAgent({ path: { slug }, body }), `agent ${slug}`)).body;
      context.print(reply, describeChanges(`agent ${slug}`, reply.changes), describeObject(reply.agent));
    },
  );

  withConfirmation(group.command('delete <slug>'))
    .description('Deletes an agent; its chats remain readable to operators')
    .action(async (slug: string, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes the agent ${slug} and cannot be undone.`, slug);
      await context.http((api) => api.deleteAgent({ path: { slug } }), `agent ${slug}`);
      context.print({ deleted: slug }, `Deleted agent ${slug}.`);
    });
}
