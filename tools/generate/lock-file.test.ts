import { describe, expect, it } from '@jest/globals';
import { completePackages } from './lock-file.ts';

describe('completion of package-lock.json', () => {
  it('adds the missing packages of other platforms and keeps what is there', () => {
    const packages = {
      'node_modules/tool': {
        version: '1.0.0',
        dev: true,
        optionalDependencies: { '@tool/linux-x64-musl': '1.0.0', '@tool/win32-x64-msvc': '1.0.0' },
      },
      'node_modules/@tool/linux-x64-musl': { version: '1.0.0', cpu: ['x64'], optional: true, os: ['linux'] },
    };
    expect(completePackages(packages)).toEqual({
      ...packages,
      'node_modules/@tool/win32-x64-msvc': { version: '1.0.0', cpu: ['x64'], dev: true, license: 'MIT', optional: true, os: ['win32'] },
    });
  });

  it('tells the C library of a Linux package from its name', () => {
    const packages = { 'node_modules/a': { optionalDependencies: { 'a-linux-arm64-musl': '2.0.0', 'a-linux-arm-gnueabihf': '2.0.0' } } };
    const complete = completePackages(packages);
    expect(complete['node_modules/a-linux-arm64-musl']?.libc).toEqual(['musl']);
    expect(complete['node_modules/a-linux-arm-gnueabihf']).toMatchObject({ libc: ['glibc'], cpu: ['arm'] });
  });

  it('finds a package that lies beside its user', () => {
    const packages = {
      'node_modules/a': { version: '1.0.0' },
      'node_modules/a/node_modules/b': { optionalDependencies: { c: '^1.0.0' } },
      'node_modules/a/node_modules/c': { version: '1.2.0' },
    };
    expect(Object.keys(completePackages(packages))).toHaveLength(3);
  });

  it('refuses a package that is no part of a platform', () => {
    expect(() => completePackages({ 'node_modules/a': { optionalDependencies: { b: '1.0.0' } } })).toThrow(/lacks b@1.0.0/);
  });
});
