/**
 * Examples of the documents: real exchanges of the e2e tests. A committed example stays as long as it fits its document; the
 * last e2e run on this machine, if there was one, fills the gaps. Neither reading nor checking needs a server.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type RecordedExample, type Recording, readRecordings } from '../../test/e2e/contract/recordings.ts';
import { compileDocumented, type DocumentedOperation, listOperations } from '../../test/e2e/contract/served-documents.ts';

type Examples = Readonly<Record<string, Readonly<Record<string, RecordedExample>>>>;

const repoDir = join(import.meta.dirname, '..', '..');

/** The text of services/api-gateway/examples.json. */
export function describeExamples(): Promise<string> {
  const file = join(repoDir, 'services', 'api-gateway', 'examples.json');
  const latest = join(repoDir, '.data', 'contract', 'latest');
  const committed = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Examples) : {};
  const seen = existsSync(latest) ? readRecordings(latest) : {};
  const operations = listOperations(Object.values(buildDocuments(routes)));
  return Promise.resolve(`${JSON.stringify(chooseExamples(operations, committed, seen), null, 2)}\n`);
}

/** For each documented answer in JSON or text: the committed exchange, else the recorded one, as far as they fit the document. */
export function chooseExamples(operations: readonly DocumentedOperation[], committed: Examples, seen: Recording): Examples {
  const chosen = operations.map((operation) => {
    const examples = Object.keys(operation.responses).flatMap((status) => {
      const candidates = [committed[operation.id]?.[status], seen[operation.id]?.[status]?.example];
      const example = candidates.find((candidate) => candidate !== undefined && fits(operation, status, candidate));
      return example === undefined ? [] : [[status, example] as const];
    });
    return [operation.id, Object.fromEntries(examples)] as const;
  });
  return Object.fromEntries(chosen.filter(([, examples]) => Object.keys(examples).length > 0));
}

function fits(operation: DocumentedOperation, status: string, { request, response }: RecordedExample): boolean {
  const reply = Object.values(operation.responses[status]?.content ?? {})[0]?.schema;
  if (reply === undefined) return false;
  if (compileDocumented(reply, operation.components, Number(status) < 400)(response).length > 0) return false;
  const body = operation.requestBody?.content['application/json']?.schema;
  // A refused request may be one that does not fit.
  if (request === undefined || Number(status) >= 400) return true;
  return body !== undefined && compileDocumented(body, operation.components, false)(request).length === 0;
}
