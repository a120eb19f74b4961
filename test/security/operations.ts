/** What is attacked: every documented operation, and the door for assistants, which the documents leave out (rules/mcp). */
import { buildOpenApi } from '#libs/infrastructure/http';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type DocumentedOperation, listOperations } from '../e2e/contract/served-documents.ts';

const info = {
  title: '',
  version: '1',
  description: '',
  surface: 'api',
  license: 'Apache-2.0',
  tags: { mcp: 'Assistants.' },
} as const;
const door = routes
  .filter(({ operationId }) => operationId === 'mcp')
  .map((route) => ({ ...route, documented: undefined }));

export const attackedOperations: readonly DocumentedOperation[] = listOperations([
  ...Object.values(buildDocuments(routes)),
  buildOpenApi(door as never, info),
]);
