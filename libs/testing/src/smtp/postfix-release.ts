import { cp, glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CacheEntry, Workplace } from '../services/cache/cache-entry.ts';
import { debianArchitecture, unpackDebian } from '../services/cache/debian.ts';

/** Packages that only the installation needs, or that every Debian has. */
const LEFT_OUT =
  /^(adduser|passwd|debconf|perl|libperl|cpio|ssl-cert|netbase|lsb-base|e2fsprogs|openssl|dpkg|init-system|libc6|libgcc|gcc-|libcrypt1|libstdc|tar$|sysvinit|cdebconf|sasl2|libsasl2-modules)/;

async function build(workplace: Workplace): Promise<void> {
  const { out, downloads, say } = workplace;
  say('downloading Postfix from Debian bookworm, about 15 MB');
  const root = join(downloads, 'root');
  await rm(root, { recursive: true, force: true });
  await unpackDebian(workplace, { suite: 'bookworm', packages: ['postfix'], leaveOut: LEFT_OUT }, root);
  for await (const path of glob(join(root, 'usr/share/{doc,locale,man,lintian,bug}'))) {
    await rm(path, { recursive: true, force: true });
  }
  await cp(root, out, { recursive: true, verbatimSymlinks: true });
}

/** Postfix 3.7 from its package: unpacked and never installed, since a machine has one mail server at most. */
export const POSTFIX_RELEASE: CacheEntry = { name: 'postfix-3.7-1', title: 'Postfix 3.7', build };

/** Where its own libraries are, and those that it needs beside the C library. */
export const postfixLibraries = (folder: string): string =>
  [join(folder, 'usr/lib/postfix'), join(folder, debianArchitecture().libraries)].join(':');
