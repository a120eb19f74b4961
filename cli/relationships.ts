/** `relationships create|update|delete` over HTTP (W3). */
import type { Command } from 'commander';
import type { CreateRelationshipRequest, UpdateRelationshipRequest } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { parseId } from './parse-options.ts';
import { type WorkflowOptions, toWorkflow, withWorkflow } from './workflow-options.ts';
import { describeChanges, describeObject, readBody } from './write-options.ts';

interface CreateOptions extends WorkflowOptions {
  readonly fromHolon?: number;
  readonly toHolon?: number;
}

export function register(relationships: Command, context: CliContext): void {
  withWorkflow(relationships.command('create').description('Relates a holon to another one'))
    .option('--from-holon <id>', 'holon', parseId)
    .option('--to-holon <id>', 'the other holon', parseId)
    .action(async ({ from, fromHolon, toHolon, ...options }: CreateOptions) => {
      const fields = { from_holon_id: fromHolon, to_holon_id: toHolon, ...toWorkflow(options) };
      const body = await readBody<CreateRelationshipRequest['body']>(from, fields);
      const { relationship } = (await context.http((api) => api.createRelationship({ body }))).body;
      context.print(
        relationship,
        `Created relationship ${relationship.relationship_id}.`,
        describeObject({ ...relationship }),
      );
    });

  withWorkflow(relationships.command('update').argument('<id>', 'relationship', parseId))
    .description('Changes the step, follow-up or responsible person of a relationship')
    .action(async (id: number, { from, ...options }: WorkflowOptions) => {
      const body = await readBody<UpdateRelationshipRequest['body']>(from, toWorkflow(options));
      const call = { path: { relationship_id: id }, body };
      const reply = (await context.http((api) => api.updateRelationship(call), `relationship ${id}`)).body;
      context.print(
        reply,
        describeChanges(`relationship ${id}`, reply.changes),
        describeObject({ ...reply.relationship }),
      );
    });

  withConfirmation(relationships.command('delete'))
    .argument('<id>', 'relationship', parseId)
    .description('Deletes a relationship; notes remain')
    .action(async (id: number, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes relationship ${id} and cannot be undone.`, String(id));
      await context.http((api) => api.deleteRelationship({ path: { relationship_id: id } }), `relationship ${id}`);
      context.print({ deleted: id }, `Deleted relationship ${id}.`);
    });
}
