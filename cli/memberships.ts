/** `memberships create|update|delete` over HTTP (W3). */
import type { Command } from 'commander';
import type { CreateMembershipRequest, UpdateMembershipRequest } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { parseId } from './parse-options.ts';
import { describeChanges, describeObject, readBody } from './write-options.ts';
import { type WorkflowOptions, toWorkflow, withWorkflow } from './workflow-options.ts';

interface CreateOptions extends WorkflowOptions {
  readonly person?: number;
  readonly holon?: number;
}

export function register(memberships: Command, context: CliContext): void {
  withWorkflow(memberships.command('create').description('Adds a person to a holon'))
    .option('--person <id>', 'person', parseId)
    .option('--holon <id>', 'holon', parseId)
    .action(async ({ from, person, holon, ...options }: CreateOptions) => {
      const fields = { person_id: person, holon_id: holon, ...toWorkflow(options) };
      const body = await readBody<CreateMembershipRequest['body']>(from, fields);
      const { membership } = (await context.http((api) => api.createMembership({ body }))).body;
      context.print(membership, `Created membership ${membership.membership_id}.`, describeObject({ ...membership }));
    });

  withWorkflow(memberships.command('update').argument('<id>', 'membership', parseId))
    .description('Changes the step, follow-up or responsible person of a membership')
    .action(async (id: number, { from, ...options }: WorkflowOptions) => {
      const body = await readBody<UpdateMembershipRequest['body']>(from, toWorkflow(options));
      const call = { path: { membership_id: id }, body };
      const reply = (await context.http((api) => api.updateMembership(call), `membership ${id}`)).body;
      context.print(reply, describeChanges(`membership ${id}`, reply.changes), describeObject({ ...reply.membership }));
    });

  withConfirmation(memberships.command('delete'))
    .argument('<id>', 'membership', parseId)
    .description('Removes a person from a holon; notes remain')
    .action(async (id: number, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes membership ${id} and cannot be undone.`, String(id));
      await context.http((api) => api.deleteMembership({ path: { membership_id: id } }), `membership ${id}`);
      context.print({ deleted: id }, `Deleted membership ${id}.`);
    });
}
