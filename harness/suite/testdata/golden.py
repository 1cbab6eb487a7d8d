# Writes what Python and PyYAML answer into the JSON files beside it; run it here: python3 golden.py
# Last run with Python 3.11.7 and PyYAML 6.0.3.
import yaml, json, re, itertools
sc="""yes no on off Yes TRUE y n Y oN 010 08 0o10 0b101 0b 0b_ 0x1F 0x_f 1_000 _1 1__0 0_ 0 -0 +5 -010 1e3 1.0e3 1.e+3 1.5e+3 1.50 1.0 .5 ._5 5. -.5 +.5 .inf -.INF +.Inf .nan .NaN 12:30 1:2:3 012:30 12:60 12:5 190:20:30.15 1.5:3 -12:30 2026-01-02 2026-1-2 2026-13-45 2026-02-30 2026-01-02T03:04:05Z 2026-01-02t3:04:05.5+02:00 2026-01-02T03:04:05-05 2026-01-02T03:04:05.1234567 2026-01-02T03:04:05+00:00 ~ null Null NULL nULL = << 1e16 1e+16 10000000000000000.0 1.0e+16 1.0e+15 0.0001 0.00001 1.0e-7 123456789012345678901234567890 1.7976931348623157e+309 1_0.5_0 0.1 00 007 0.0 -0.0 1,000 1e5 3.14159265358979 0777 09 9_ 1:00 1:0 0:30 100:59""".split()
sc += ["2026-01-02 03:04:05","2026-01-02 03:04:05 +1:30","2026-01-02 23:59:60","hello world"]
rows=[]
for s in sc:
    try:
        v=yaml.safe_load("k: "+s+"\n")
        v=v["k"]
        rows.append({"in":s,"type":type(v).__name__,"str":str(v)})
    except Exception as e:
        rows.append({"in":s,"error":type(e).__name__})
json.dump(rows,open("pyyaml_scalars.json","w"),indent=1)
docs=["a: 1\na: 2\n","a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\n","a: &x {p: 1}\nb: &y {p: 2, r: 4}\nc: {<<: [*x, *y]}\n","c: {q: 3, <<: {q: 1, z: 2}}\n","","# only\n","---\na: 1\n","a: 1\n---\nb: 2\n","a: |\n  x\n  y\n","a: >-\n  x\n  y\n","a: 'yes'\n","a: !!str 12\n","a: !!int '12'\n","a: !!python/object:os.system x\n","1: a\n'1': b\n","a: [1, [2, {b: c}]]\n","a: \"\\u00e9\\x41\"\n","? a\n: b\n","? [a, b]\n: c\n","\tk: v\n","a: b: c\n","a: *nope\n","- 1\n- 2\n","yes: 1\n","a: &x [*x]\n","\ufeffa: 1\n", "a: {b: 1, }\n", "a: [1,2,]\n", "a: x # comment\n", "a: x#y\n","%YAML 1.1\n---\na: 1\n","a: !!float 1\n", "a: !!bool 'yes'\n","a: !!null ''\n","a: 1\nb:\n  - c\n- d\n"]
def conv(v):
    if isinstance(v,dict): return {str(k):conv(x) for k,x in v.items()}
    if isinstance(v,list): return [conv(x) for x in v]
    return v
out=[]
for d in docs:
    try: out.append({"in":d,"value":conv(yaml.safe_load(d))})
    except RecursionError as e: out.append({"in":d,"error":"RecursionError"})
    except Exception as e: out.append({"in":d,"error":type(e).__name__})
json.dump(out,open("pyyaml_documents.json","w"),indent=1)
pats=[r"a$",r"a\Z",r"(?P<x>a)(b)\1",r"(?P<x>a)(b)\2",r"(a)(?P<x>b)\2(?P=x)",r"(?P<y>.)(?P=y)",r"a{,2}$",r"^a{,}$",r"a{",r"a{x}",r"a{}",r"^a{2}$",r"a{2,1}",r"\w+$",r"^\w+$",r"^\W+$",r"^[\W]+$",r"^[^\W]+$",r"^[^\W\d]+$",r"^[\S]$",r"^[^\S]$",r"^\s+$",r"^\S+$",r"^\d+$",r"^[\D]+$",r"\bfoo\b",r"\Bfoo",r"(?i)FOO",r"(?i:F)oo",r"(?-i:f)oo",r"x(?i)y",r"(?m)^b$",r"^b$",r"(?s)a.b",r"a.b",r"(?x) a b # c",r"(?x) a\ b",r"(?x)[ ]",r"(?x: a ) b",r"(?a)^\w+$",r"(?a:\w+)é",r"(?u)é",r"(?L)a",r"(?au)a",r"a**",r"a*+b",r"a++a",r"(?>a+)b",r"a?+a",r"*a",r"^*",r"\b+",r"a|*b",r"(?=a)*b",r"(?#c)a",r"a(?#c)+",r"(?#c",r"(?<=a)b",r"(?<!a)b",r"(?<=a+)b",r"(?<n>a)",r"(?'n'a)",r"(?P<1>a)",r"(?P<n>a)(?P<n>b)",r"(?P=n)",r"(a)?(?(1)b|c)$",r"(?P<n>a)?(?(n)b|c)$",r"(?(2)a)",r"(a\1)",r"\1(a)",r"\8",r"\0",r"\01",r"\101",r"\400",r"\x41",r"\x4",r"\u0041",r"\U00000041",r"\U00110000",r"\N{BULLET}",r"\q",r"\-",r"\é",r"\a\f\v",r"[a-]",r"[-a]",r"[]a]",r"[^]a]",r"[a-\d]",r"[z-a]",r"[",r"[]",r"[a\]b]+",r"[\b]",r"[\A]",r"[\101]",r"[\8]",r"[[:alpha:]]",r"[a-z&&[b]]",r"[a-c-e]",r"[\w-]+$",r"[\w-a]",r"[a--b]",r"a|b|",r"()",r"(",r")",r"a\\",r"\\"[:1],r"(?)",r"(?:)",r"(?P",r"(?z)a",r"(?i-i:a)",r"(?-a:b)",r"(?i-:a)",r"(?-:a)",r"(?P<né>a)",r"(?:a|b)+c",r"^(?:(?:a))$",r"#a b",r" ",r"\ ",r"\$",r"[$]",r"[\$\-\]]",r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10",r"(a)\11",r"\p{L}",r"[\p]",r"\z",r"\G",r"\Aab",r"(?i)straße",r"(?i)[k]",r"a{1}{2}",r"a{1,2}?",r"a{2}+",r"a{,2}+a",r"\d{3}-\d{4}",r"^\s*$",r"[^\n]+",r"(?im)^B",r"(?i)(?m)^B",r"a(?=b)c|d",r"${a}",r"(?(1)a|b|c)",r"(x)(?(1)a|b|c)",r"(?x)a b *",r"a\
b"]
subs=["","a","aa","ab","abc","aba","abb","abbb","aab","aaa","a\n","a\nb\nc","foo","FOO","a foo b","xfoo","é","aé","ß","STRASSE","straße","٣","12","555-1234"," ","\x1c","\x85","\u00a0","\u200b","²","①","e\u0301","_","a-b","-","]","[","^","$","{","a{","a{x}","a{}","a b","a b c","#a b","abcdefghijj","abcdefghij","A","B\nb","\b","\a\f\v","\x00","\x01","K","\u212a","k","s","ſ","q","d","c","b","xa","xb","\\","世界","&&]","a:","+",".","ac","ǅ","–","‿","ⅷ"]
res=[]
import warnings; warnings.simplefilter("ignore")
for p in pats:
    try: r=re.compile(p)
    except Exception as e:
        res.append({"re":p,"error":str(e)}); continue
    res.append({"re":p,"matches":[s for s in subs if r.search(s)]})
json.dump({"subjects":subs,"patterns":res},open("python_regexps.json","w"),indent=0)
print(len(rows),len(out),len(res))
