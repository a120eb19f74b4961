import { describe, expect, it } from '@jest/globals';
import { contracts } from '../../libs/product/servers/service-contracts.ts';
import { readSources } from './sources.ts';

/** First words of read-only operation names. */
const reads = /^(describe|export|find|get|identify|info|list|read|search|show)(-|$)/;
/** The first step of a two-step operation. The audit entry is written by the last step, which applies the file. */
const staged = ['admin.directory.workspace.upload'];

const admin = contracts
  .flatMap(({ rpcs }) => Object.values(rpcs))
  .filter(({ subject }) => subject.startsWith('admin.'));

describe('the audit log (A1; rules/audit#what-is-written)', () => {
  it('exactly the changing operations of the admin CLI declare an audit action', () => {
    expect(admin.length).toBeGreaterThan(10);
    for (const { subject, audit } of admin) {
      const verb = subject.split('.').at(-1) ?? '';
      expect([subject, audit !== undefined]).toEqual([subject, !reads.test(verb) && !staged.includes(subject)]);
    }
  });

  it('logins, logouts and step configuration have audit actions', () => {
    const audited = contracts.flatMap(({ rpcs }) => Object.values(rpcs)).filter(({ audit }) => audit !== undefined);
    const subjects = audited.map(({ subject }) => subject);
    for (const subject of ['login', 'refuse-login', 'logout'].map((verb) => `directory.sessions.${verb}`))
      expect(subjects).toContain(subject);
    expect(subjects).toContain('directory.steps.patch-config');
  });

  it('audit actions are named `object.verb`', () => {
    const actions = contracts.flatMap(({ rpcs }) => Object.values(rpcs)).flatMap(({ audit }) => audit ?? []);
    expect(actions.filter((action) => !/^(login|logout|[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*)$/.test(action))).toEqual([]);
  });

  it('every feature that declares an audit action writes it', () => {
    const sources = readSources('services', 'libs').filter(({ path }) => !path.endsWith('.test.ts'));
    const declaring = sources
      .filter(({ path, text }) => path.startsWith('services/') && /^ {4}audit: '/m.test(text))
      .map(({ path }) => path.replace(/[^/]+$/, ''));
    const writing = sources.filter(({ text }) => /\brecordAudit\(/.test(text)).map(({ path }) => path);
    expect(declaring.filter((folder) => !writing.some((path) => path.startsWith(folder)))).toEqual([]);
  });
});
