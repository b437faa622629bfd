import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const SEQUENCE = 0x30;
const SET = 0x31;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (at: Date): Buffer =>
  der(0x17, Buffer.from(`${at.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));
const commonName = (name: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, oid('550403'), der(0x0c, Buffer.from(name)))));

/**
 * A certificate that signs itself, for a name of a test's own, valid from yesterday until tomorrow. Written here
 * because Node makes keys but no certificates, and one that lies in a repository would expire there.
 */
export function selfSigned(name: string): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid('2a8648ce3d040302'));
  const day = 86_400_000;
  const validity = der(SEQUENCE, utcTime(new Date(Date.now() - day)), utcTime(new Date(Date.now() + day)));
  const alternative = der(SEQUENCE, der(0x82, Buffer.from(name)));
  const authority = der(SEQUENCE, der(0x01, Buffer.from([0xff])));
  const extensions = der(
    0xa3,
    der(
      SEQUENCE,
      der(SEQUENCE, oid('551d11'), der(0x04, alternative)),
      der(SEQUENCE, oid('551d13'), der(0x01, Buffer.from([0xff])), der(0x04, authority)),
    ),
  );
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(8)]);
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    commonName(name),
    validity,
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const lines = der(SEQUENCE, content, algorithm, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
