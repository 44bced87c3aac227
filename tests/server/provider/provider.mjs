// An OpenID provider on this machine. Anybody signs in with any password; groups go by the name.
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const { port, keys, redirects, audience, secret, lasts } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const groups = (name) => (name.includes("-") ? [name.split("-")[0]] : []);
const grants = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"];

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys },
  clients: [
    { client_id: "page", client_secret: secret, redirect_uris: redirects, grant_types: grants.slice(0, 2) },
    {
      client_id: "command",
      token_endpoint_auth_method: "none",
      application_type: "native",
      grant_types: grants.slice(1),
      redirect_uris: [],
      response_types: [],
    },
  ],
  claims: { openid: ["sub"], groups: ["groups"] },
  scopes: ["openid", "offline_access", "groups"],
  conformIdTokenClaims: false,
  issueRefreshToken: async () => true,
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, groups: groups(id) }) }),
  extraTokenClaims: async (_, token) => ({ groups: groups(token.accountId ?? "") }),
  pkce: { required: () => true },
  ttl: { AccessToken: lasts, Grant: 600, IdToken: 600, Interaction: 600, RefreshToken: 600, Session: 600, DeviceCode: 600, AuthorizationCode: 60 },
  features: {
    deviceFlow: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => audience,
      useGrantedResource: async () => true,
      getResourceServerInfo: async () => ({
        scope: "openid groups",
        audience,
        accessTokenFormat: "jwt",
        accessTokenTTL: lasts,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(port, "127.0.0.1", () => console.log("ready"));
