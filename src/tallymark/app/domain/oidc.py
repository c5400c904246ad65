"""Sign-in with an OpenID provider: the authorization code flow with PKCE, state and nonce.

A secret in a cookie ties an answer of the provider to the browser that asked: state, nonce and the verifier of PKCE are
hashes of it. An account belongs to an identity by its issuer and subject; an address at the provider links nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tallymark.app.domain import accounts
from tallymark.app.domain.accounts import check_name, name_key
from tallymark.app.domain.errors import ConflictError, FormError, NotFoundError
from tallymark.app.service import Service
from tallymark.app.settings import is_safe_address
from tallymark.app.store.models import Identity, User
from tallymark.optional_packages import needed

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY = 60  # seconds that the clock of the provider may differ
_TIMEOUT = 10.0  # seconds for each answer of the provider
_MAX_SUBJECT_LENGTH = 255
_LOG = logging.getLogger("tallymark.app")


class VerifiedIdentity(NamedTuple):
    """An account at the provider, whose ID token was verified."""

    issuer: str
    subject: str
    name: str


class Provider(NamedTuple):
    """What the provider publishes of itself."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


def new_secret() -> str:
    """The secret of one sign-in, for a cookie."""
    return secrets.token_urlsafe(32)


def _derive(secret: str, purpose: str) -> str:
    """A value that only who knows the secret can compute, and that does not reveal it."""
    digest = hmac.digest(secret.encode(), purpose.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def redirect_uri(service: Service) -> str:
    """The address to which the provider sends people back; it must be registered there."""
    return f"{service.settings.address}/sign-in/oidc/callback"


def authorization_url(service: Service, secret: str) -> str:
    """The page of the provider on which people sign in."""
    provider = _discover(service)
    challenge = hashlib.sha256(_derive(secret, "verifier").encode()).digest()
    query = {
        "response_type": "code",
        "client_id": service.settings.oidc_client_id,
        "redirect_uri": redirect_uri(service),
        "scope": "openid profile",
        "state": _derive(secret, "state"),
        "nonce": _derive(secret, "nonce"),
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    separator = "&" if "?" in provider.authorization_endpoint else "?"
    return f"{provider.authorization_endpoint}{separator}{urlencode(query)}"


def verify_answer(service: Service, secret: str, state: str, code: str) -> VerifiedIdentity:
    """Who signed in, by the code that the provider sent back; raises `ConflictError` if anything does not fit."""
    if not secret or not hmac.compare_digest(_derive(secret, "state").encode(), state.encode()):
        raise _failed(service, "state")
    if not code:
        raise _failed(service, "code")
    provider = _discover(service)
    token = _request_token(service, provider, code, _derive(secret, "verifier"))
    return _verify_token(service, provider, token, _derive(secret, "nonce"))


def _discover(service: Service) -> Provider:
    issuer = service.settings.oidc_issuer
    if not issuer:
        raise NotFoundError()
    found = _get_json(service, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    provider = Provider(*(str(found.get(name, "")) for name in Provider._fields))
    if found.get("issuer") != issuer or not all(map(is_safe_address, provider)):
        raise _failed(service, "configuration")
    return provider


def _get_json(service: Service, url: str) -> dict[str, Any]:
    with needed("Sign-in with OpenID Connect", "httpx", extra="oidc"):
        import httpx
    try:
        answer = httpx.get(url, timeout=_TIMEOUT)
        found = answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise _failed(service, "provider")
    return found


def _request_token(service: Service, provider: Provider, code: str, verifier: str) -> str:
    """The ID token for a code, which the provider gives once."""
    import httpx

    settings = service.settings
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri(service),
        "code_verifier": verifier,
    }
    try:
        auth = (settings.oidc_client_id, settings.oidc_client_secret)
        answer = httpx.post(provider.token_endpoint, data=form, auth=auth, timeout=_TIMEOUT)
        found = answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        found = None
    token = found.get("id_token") if isinstance(found, dict) else None
    if not isinstance(token, str):
        raise _failed(service, "token")
    return token


def _verify_token(service: Service, provider: Provider, token: str, nonce: str) -> VerifiedIdentity:
    """The identity of an ID token: signed by the provider, for this app, for this sign-in, and not expired."""
    with needed("Sign-in with OpenID Connect", "joserfc", extra="oidc"):
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet
    try:
        keys = KeySet.import_key_set(_get_json(service, provider.jwks_uri))  # type: ignore[arg-type]
        claims = jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
    except (JoseError, ValueError, KeyError, TypeError):
        raise _failed(service, "signature") from None
    settings, now = service.settings, service.now().timestamp()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    expires, issued, subject = claims.get("exp"), claims.get("iat"), claims.get("sub")
    if claims.get("iss") != settings.oidc_issuer:
        raise _failed(service, "issuer")
    if (
        settings.oidc_client_id not in audiences
        or claims.get("azp", settings.oidc_client_id) != settings.oidc_client_id
    ):
        raise _failed(service, "audience")
    if not isinstance(expires, (int, float)) or not isinstance(issued, (int, float)):
        raise _failed(service, "time")
    if expires <= now - _LEEWAY or issued > now + _LEEWAY:
        raise _failed(service, "time")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise _failed(service, "nonce")
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT_LENGTH or not subject.isprintable():
        raise _failed(service, "subject")
    name = claims.get("name") or claims.get("preferred_username") or "User"
    return VerifiedIdentity(settings.oidc_issuer, subject, str(name))


def _failed(service: Service, what: str) -> ConflictError:
    """The error of a sign-in; the log says which check failed."""
    _LOG.warning("sign-in with the provider failed", extra={"facts": {"check": what}})
    message = f"The sign-in with {service.settings.provider_name} failed."
    return ConflictError(message, "Start it again from the sign-in page.", ("Sign in", "/sign-in"))


def find_linked(session: Session, identity: VerifiedIdentity) -> User | None:
    """The user of an identity."""
    found = session.get(Identity, (identity.issuer, identity.subject))
    return None if found is None else session.get_one(User, found.user_id)


def is_linked(session: Session, user: User) -> bool:
    """Whether a user can sign in with the provider."""
    return session.scalar(select(Identity.user_id).where(Identity.user_id == user.id).limit(1)) is not None


def sign_in(service: Service, identity: VerifiedIdentity, invitation: str) -> tuple[User, bool]:
    """The user of an identity, and whether they are new. New ones need an invitation, unless everybody at the provider
    may sign up."""
    with service.database.reading() as session:
        user = find_linked(session, identity)
    return (_sign_up(service, identity, invitation), True) if user is None else (user, False)


def _sign_up(service: Service, identity: VerifiedIdentity, invitation: str) -> User:
    if not invitation and service.settings.sign_up == "invitation":
        raise ConflictError(
            accounts.INVITATION_REQUIRED,
            f"If you have an account already, sign in with its password and connect it with "
            f"{service.settings.provider_name} under Account.",
            ("Sign in", "/sign-in"),
        )
    try:
        base = check_name(identity.name[:34])
    except FormError:
        base = "User"
    for name in (base, *(f"{base} {number}" for number in range(2, 10)), f"{base[:30]} {secrets.randbelow(10**8)}"):
        now = service.now()
        try:
            with service.database.writing() as session:
                if not _is_free(session, name):
                    continue
                user = User(name=name, key=name_key(name), password=None, created=now)
                if invitation:
                    invited = accounts.find_valid_invitation(session, service, invitation)
                    if invited is None:
                        raise ConflictError(accounts.INVALID_INVITATION)
                    user.organiser, user.operator = invited.organiser, invited.first
                    for column, value in accounts.confirmed_address(session, invited).items():
                        setattr(user, column, value)
                session.add(user)
                session.flush()
                if invitation and invited is not None:
                    accounts.use_invitation(session, invited, user, now)
                session.add(Identity(issuer=identity.issuer, subject=identity.subject, user_id=user.id, created=now))
            return user
        except FormError as error:
            raise ConflictError(str(error)) from None
        except IntegrityError:  # the identity signed up at the same time
            with service.database.reading() as session:
                linked = find_linked(session, identity)
            if linked is not None:
                return linked
    raise ConflictError("No name could be found for your account.", "Try again.")


def _is_free(session: Session, name: str) -> bool:
    try:
        accounts.check_name_is_free(session, name)
    except FormError:
        return False
    return True


def link(service: Service, user: User, identity: VerifiedIdentity) -> None:
    """Let a user sign in with an identity from now on."""
    try:
        with service.database.writing() as session:
            linked = find_linked(session, identity)
            if linked is None:
                added = Identity(
                    issuer=identity.issuer, subject=identity.subject, user_id=user.id, created=service.now()
                )
                session.add(added)
            elif linked.id != user.id:
                raise ConflictError("Another account is connected with this one at the provider.")
    except IntegrityError:
        raise ConflictError("Another account is connected with this one at the provider.") from None


def unlink(service: Service, user: User) -> None:
    """End the sign-in with the provider for a user, who needs a password then."""
    if user.password is None:
        raise ConflictError("Without a password you could no longer sign in.", "Set one by “Forgot your password?”.")
    with service.database.writing() as session:
        session.execute(delete(Identity).where(Identity.user_id == user.id))
