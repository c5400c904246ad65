"""The app behind nginx and Caddy, with the files of packaging/server and a certificate of the test's own; and the other
files there, linted."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from tallymark.app.settings import PREFIX, AppSettings
from tests.app.stage import guess, table, token_of, truth
from tests.app.test_serve import serve
from tests.waiting import LIMIT, free_port, until

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[2] / "packaging" / "server"
HOST = "scores.example.org"
PASSWORD = "correct horse battery"


def program(name):
    """The path of a program; without it, a test is skipped."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"this test needs {name}: install it (on Debian: apt install {name})")
    return found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for the host, with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    command = [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-out", "cert.pem", "-keyout", "key.pem"], cwd=folder, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def nginx(folder, certificate, https, http, app):
    """The command that runs nginx with the documented site on other ports."""
    cert, key = certificate
    site = (SERVER / "nginx.conf").read_text()
    for old, new in {
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        "/etc/letsencrypt/live/scores.example.org/fullchain.pem": str(cert),
        "/etc/letsencrypt/live/scores.example.org/privkey.pem": str(key),
        "127.0.0.1:8000": app,
    }.items():
        assert site.count(old) == 1, old
        site = site.replace(old, new)
    paths = "".join(
        f"{each}_temp_path {folder}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "main.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}\n"
        f"http {{ access_log off; {paths}\n{site} }}"
    )
    return [program("nginx"), "-p", str(folder), "-c", str(folder / "main.conf"), "-e", str(folder / "log")]


def caddy(folder, certificate, https, http, app):
    """The command that runs Caddy with the documented site on another port, and with the test's certificate."""
    cert, key = certificate
    site = (SERVER / "Caddyfile").read_text()
    begin = f"\n{HOST} {{\n"
    assert site.count(begin) == 1
    assert site.count("127.0.0.1:8000") == 1
    site = site.replace(begin, f"\nhttps://{HOST}:{https} {{\n\tbind 127.0.0.1\n\ttls {cert} {key}\n")
    site = site.replace("127.0.0.1:8000", app)
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}")
    return [program("caddy"), "run", "--config", str(folder / "Caddyfile")]


@contextmanager
def running(command, folder, port, certificate):
    """The web server, and a client of its host; it takes connections once this begins."""
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    given = {
        "base_url": f"https://127.0.0.1:{port}",
        "headers": {"Host": f"{HOST}:{port}", "Origin": f"https://{HOST}:{port}"},
        "verify": ssl.create_default_context(cafile=str(certificate[0])),
        "timeout": LIMIT,
    }
    extensions = {"sni_hostname": HOST}

    def answers():
        assert process.poll() is None, (folder / "output").read_text() + (folder / "log").read_text()
        try:
            return client.get("/ready", extensions=extensions).status_code == 200
        except httpx.TransportError:
            return False

    try:
        (folder / "log").touch()
        with httpx.Client(**given) as client:
            until(answers)
            yield lambda method, path, **more: client.request(method, path, extensions=extensions, **more)
    finally:
        process.terminate()
        process.wait(LIMIT)


@pytest.mark.parametrize("server", [nginx, caddy])
def test_the_app_works_behind_a_web_server_with_https(tmp_path, certificate, server):
    """Sign-up, cookies for HTTPS only, forms with their origin, uploads, and pages for what is refused."""
    folder = tmp_path / "server"
    folder.mkdir()
    with free_port() as https, free_port() as http:
        url = f"https://{HOST}:{https}"
        with serve(tmp_path / "data", "--url", url, "--upload-bytes", "2000000") as served:
            command = server(folder, certificate, https, http, served.url.removeprefix("http://"))
            with running(command, folder, https, certificate) as ask:
                assert served.link.startswith(f"{url}/sign-up?")
                form = {"name": "Olga", "password": PASSWORD, "again": PASSWORD}
                form["invitation"] = served.link.split("=")[1]
                joined = ask("POST", "/sign-up", data=form)
                assert joined.status_code == 303
                assert "; Secure" in joined.headers["set-cookie"]
                assert joined.headers["strict-transport-security"]
                cookie = {"Cookie": joined.headers["set-cookie"].partition(";")[0]}
                assert "Operate" in ask("GET", "/", headers=cookie).text
                assert ask("POST", "/sign-out", headers={"Origin": "https://elsewhere.example"}).status_code == 403
                assert ask("GET", "/metrics").status_code == 403

                def upload(size):
                    rows = table(guess(5)) + b"\n" * size
                    files = {"answers": ("answers.csv", table(truth())), "submission": ("mine.csv", rows)}
                    return ask("POST", "/analyse", files=files)

                assert "accuracy" in upload(1_900_000).text.lower()
                refused = upload(2_100_000)
                assert refused.status_code == 413
                assert "Reference for support" in refused.text  # the app's page, not that of the web server
                if server is nginx:
                    redirected = httpx.get(f"http://127.0.0.1:{http}/account", headers={"Host": HOST}, timeout=LIMIT)
                    assert (redirected.status_code, redirected.headers["location"]) == (301, f"https://{HOST}/account")


def test_several_processes_share_a_database_and_a_folder(tmp_path, postgres):
    """Who signs up at one is known to the other, which submits the file that the first one checked."""
    database, folder = postgres(), tmp_path / "data"
    with serve(folder, "--example", "examples/data", database=database) as one, serve(folder, database=database) as two:
        given = [
            httpx.Client(base_url=each.url, headers={"Origin": each.url}, timeout=LIMIT, cookies=httpx.Cookies())
            for each in (one, two)
        ]
        with given[0] as first, given[1] as second:
            link = two.link or one.link  # each start makes earlier links worthless
            form = {"name": "Olga", "password": PASSWORD, "again": PASSWORD, "invitation": link.split("=")[1]}
            joined = first.post("/sign-up", data=form)
            second.headers["Cookie"] = joined.headers["set-cookie"].partition(";")[0]
            path = "/challenges/animals-on-photographs"
            assert second.post(f"{path}/join", data={"team": "Owls"}).status_code == 303
            file = {"submission": ("mine.csv", Path("examples/data/submission-good.csv").read_bytes())}
            token = token_of(first.post(f"{path}/submit", files=file).text)
            sent = second.post(f"{path}/submit", data={"token": token})
            assert sent.status_code == 303
            assert "Owls" in first.get(f"{path}/leaderboard").text


def test_the_page_for_operators_has_the_documented_files():
    """As they are in packaging/server, without the comments at their head."""
    page = (SERVER.parents[1] / "docs" / "how-to" / "run-the-app.md").read_text()
    for name in ("nginx.conf", "Caddyfile"):
        assert re.sub(r"\A(#.*\n)+\n", "", (SERVER / name).read_text()) in page
    assert all(f"packaging/server/{each.name}" in page for each in SERVER.iterdir())


def test_the_service_of_systemd_is_valid(tmp_path):
    """By systemd's own check, with a program that is installed here; its settings are those of the app."""
    unit = (SERVER / "tallymark.service").read_text()
    named = re.findall(rf"{PREFIX}(\w+)=", unit)
    assert {each.lower() for each in named} <= set(vars(AppSettings()))
    path = tmp_path / "tallymark.service"
    path.write_text(unit.replace("/opt/tallymark/bin/tallymark", "/bin/true"))
    done = subprocess.run([program("systemd-analyze"), "verify", str(path)], capture_output=True, text=True)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip("systemd-analyze does not run here")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_compose_file_has_the_app_and_its_database():
    """Its settings are those of the app, its volumes are declared, and nothing listens to other machines."""
    compose = yaml.safe_load((SERVER / "compose.yaml").read_text())
    app, database = compose["services"]["app"], compose["services"]["database"]
    assert {each.removeprefix(PREFIX).lower() for each in app["environment"]} <= set(vars(AppSettings()))
    assert app["environment"]["TALLYMARK_DATABASE"].endswith("@database/tallymark")
    assert app["ports"] == ["127.0.0.1:8000:8000"]
    assert "ports" not in database
    assert {each.partition(":")[0] for each in app["volumes"] + database["volumes"]} == set(compose["volumes"])
    root = SERVER / app["build"]["context"]
    assert (root / app["build"]["dockerfile"]).is_file()
    assert (root / "pyproject.toml").is_file()


def test_the_image_runs_the_app_as_a_user_without_rights():
    """Each line is an instruction, and the settings are those of the app."""
    text = re.sub(r"\\\n", " ", (SERVER / "Dockerfile").read_text())
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    known = {"FROM", "RUN", "COPY", "USER", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"}
    assert {word for word, _ in lines} == known
    words = [word for word, _ in lines]
    assert words.index("USER") < words.index("CMD")
    assert {each.lower() for each in re.findall(rf"{PREFIX}(\w+)=", text)} <= set(vars(AppSettings()))
