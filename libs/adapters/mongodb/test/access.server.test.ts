import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { selfSigned } from '@carillon/testing';
import { startFerretDb, type FerretDbService } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { openMongo } from '../src/index.ts';
import { usePlayground, wallClock } from './open-mongo.ts';

const certificate = selfSigned('localhost');
const stranger = selfSigned('localhost');

describeWith('mongodb', 'a TLS connection to MongoDB', () => {
  const playground = usePlayground();
  let front: Server;
  let url: string;

  /** Ends the encryption in front of the server, and wants to see a certificate of the client. */
  beforeAll(async () => {
    const { hostname, port } = new URL(playground.url());
    const options = { ...certificate, ca: [certificate.cert], requestCert: true, rejectUnauthorized: true };
    front = createServer(options, (client) => {
      const upstream = connect(Number(port || 27_017), hostname);
      client.on('error', () => upstream.destroy());
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    });
    front.on('tlsClientError', () => undefined);
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    url = `mongodb://localhost:${(front.address() as AddressInfo).port}/?directConnection=true`;
  });
  afterAll(() => front.close());

  it('is encrypted, with certificates of both sides', async () => {
    const stores = await playground.open({ url, tls: { ca: certificate.cert, ...certificate } });
    expect(await stores.leases.acquire('x', 'me', 0, 1)).toBe(true);
  });

  it('is refused if the server’s certificate is not signed by the authority', async () => {
    const tls = { ca: stranger.cert, ...certificate };
    await expect(playground.open({ url, tls, patience: 3000 })).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringMatching(/DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY|SELF_SIGNED|SIGNATURE/) as string,
    });
  });

  it('is refused if the client has no certificate', async () => {
    const tls = { ca: certificate.cert };
    await expect(playground.open({ url, tls, patience: 300 })).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describeWith('mongodb', 'a MongoDB with authentication', () => {
  const credentials = { username: 'carillon', password: "it's a secret" };
  let service: FerretDbService;
  beforeAll(async () => {
    service = await startFerretDb({ credentials });
  }, 300_000);
  afterAll(() => service.stop());

  const opening = (password: string | null) =>
    openMongo({
      url: service.url,
      database: 'asked',
      clock: wallClock,
      patience: 60_000,
      ...(password !== null && { credentials: { ...credentials, password } }),
    });

  it('accepts the right password', async () => {
    const stores = await opening(credentials.password);
    expect((await stores.verify()).every(({ ok }) => ok)).toBe(true);
    await stores.close();
  });

  it('refuses a wrong or missing password at once, with an error that does not repeat it', async () => {
    const begun = performance.now();
    for (const wrong of ['a guess', null]) {
      const refused = opening(wrong);
      await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(refused).rejects.toThrow(/refuses these credentials/);
      await expect(refused).rejects.not.toThrow(/a guess/);
    }
    // Patience would last for a minute each time.
    expect(performance.now() - begun).toBeLessThan(60_000);
  });
});
