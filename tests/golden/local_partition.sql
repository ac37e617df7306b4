-- What a run of tests/golden/plans.py sends to the database, written by `python -m tests.golden`: review it as a diff.
-- A title stands for a statement of shared.sql.
-- It publishes 733 rows; the SHA-256 of them is 7ebee83fe74ed38cad863cfd821aa576da90ba444638ef2896c20b769562e6f8.

BEGIN;

COMMIT;

ATTACH '<folder>/fit' AS "anon_fit" (RECOVERY_MODE no_wal_writes);

-- shared: read fit 1;

-- shared: read releases 2;

-- shared: read taxonomy_origin 1;

-- shared: read taxonomy 2;

-- shared: read taxonomy 13;

-- shared: read taxonomy 14;

-- shared: read taxonomy 15;

-- shared: read taxonomy 16;

SELECT
  COUNT(*) AS rows,
  CAST(COALESCE(
    SUM(
      CAST(HASH("patient_id", "ssn", "age", "sex", "zip", "admission", "diagnosis", "length_of_stay") AS INT128)
    ),
    0
  ) AS TEXT) AS fingerprint
FROM (
  SELECT
    *
  FROM visits
  WHERE
    age % 4 <> 1
);

-- shared: read releases 2;

SET explain_output = 'all';

EXPLAIN (FORMAT JSON) SELECT * FROM (SELECT * FROM visits WHERE age % 4 <> 1);

SET explain_output = 'PHYSICAL_ONLY';

BEGIN;

-- shared: read taxonomy 14;

-- shared: create anon_coded_labels 3;

-- shared: read anon_coded_labels 1;

-- shared: create anon_labels 1;

DROP TABLE IF EXISTS "temp"."main"."anon_coded_labels";

CREATE TEMPORARY TABLE "temp"."main"."anon_cells" AS
WITH "anon_rows" AS MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary" AS "sex",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary" AS "zip",
    "admission" AS "admission",
    "diagnosis" AS "diagnosis",
    COUNT(*) AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      age % 4 <> 1
  )
  GROUP BY
    "age",
    CAST(COALESCE("sex", NULL) AS TEXT) COLLATE "binary",
    CAST(COALESCE("zip", NULL) AS TEXT) COLLATE "binary",
    "admission",
    "diagnosis"
), "anon_values" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_rows"
), "anon_sensitive_0_ranks" AS MATERIALIZED (
  SELECT
    "diagnosis",
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_values"
)
SELECT
  "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" | "anon_labels_3"."anon_key_0" AS "anon_key_0",
  "anon_labels_0"."code" IS NULL
  OR "anon_labels_1"."code" IS NULL
  OR "anon_labels_2"."code" IS NULL
  OR "anon_labels_3"."code" IS NULL AS "anon_is_unmapped",
  "anon_sensitive_0_ranks"."anon_sensitive_0",
  "anon_rows"."anon_row_count"
FROM "anon_rows"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
  ON "anon_labels_0"."position" = 0
  AND "anon_labels_0"."depth" = 0
  AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."age", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
  ON "anon_labels_1"."position" = 1
  AND "anon_labels_1"."depth" = 0
  AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."sex", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_2
  ON "anon_labels_2"."position" = 2
  AND "anon_labels_2"."depth" = 0
  AND "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."zip", NULL) AS TEXT) COLLATE "binary"
LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_3
  ON "anon_labels_3"."position" = 3
  AND "anon_labels_3"."depth" = 0
  AND "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_rows"."admission", NULL) AS TEXT) COLLATE "binary"
JOIN "anon_sensitive_0_ranks"
  ON "anon_sensitive_0_ranks"."diagnosis" IS NOT DISTINCT FROM "anon_rows"."diagnosis"
ORDER BY
  "anon_key_0" ASC;

-- shared: read anon_cells 1;

-- shared: read anon_cells 2;

CREATE TEMPORARY TABLE "temp"."main"."anon_labels_of_classes" AS
SELECT
  anon_class,
  MAX("label") FILTER(WHERE
    "position" = 0) AS "anon_label_0",
  MAX("label") FILTER(WHERE
    "position" = 1) AS "anon_label_1",
  MAX("label") FILTER(WHERE
    "position" = 2) AS "anon_label_2",
  MAX("label") FILTER(WHERE
    "position" = 3) AS "anon_label_3"
FROM "anon_fit"."main"."classes" AS anon_listed
GROUP BY
  anon_class;

WITH "anon_labels" AS (
  SELECT DISTINCT
    position,
    depth,
    label,
    "lm" AS loss,
    "anon_key_0"
  FROM "temp"."main"."anon_labels"
)
SELECT
  anon_listed.anon_class,
  anon_listed.position,
  anon_listed.depth,
  anon_labels.loss,
  "anon_labels"."anon_key_0"
FROM "anon_fit"."main"."classes" AS anon_listed
INNER JOIN "anon_labels"
  ON anon_labels.position = anon_listed.position
  AND anon_labels.depth = anon_listed.depth
  AND anon_labels.label IS NOT DISTINCT FROM anon_listed.label
QUALIFY
  COUNT(*) OVER (PARTITION BY anon_listed.anon_class) = 4
ORDER BY
  anon_listed.anon_class ASC,
  anon_listed.position ASC;

SELECT DISTINCT
  "anon_key_0"
FROM "temp"."main"."anon_cells" AS anon_cells;

CREATE TEMPORARY TABLE "anon_class_of_key_values" AS
SELECT
  CAST(v0 AS BIGINT) AS "anon_key_0",
  CAST(v1 AS BIGINT) AS "anon_class"
FROM (VALUES
  (2993024290376384512, 1),
  (2993205400557322240, 1),
  (2996665202872680448, 2),
  (3065070322362351616, 1),
  (3065363359391023104, 1),
  (3065430017283457024, 1),
  (3069001626187464704, 2),
  (3134897831941242880, 3),
  (3134963287242833920, 3),
  (3135249160266055680, 3),
  (3135659999657721856, 2),
  (3135789862288883712, 2),
  (3136757466881064960, 3),
  (3136854928278945792, 3),
  (3137040986262208512, 3),
  (3137742543400206336, 3),
  (3138050629994283008, 2),
  (3139742761209561088, 3),
  (3139954537456992256, 3),
  (3140725192028848128, 2),
  (3141289035335467008, 3),
  (3141370639714091008, 3),
  (3142275606503227392, 3),
  (3143310745161170944, 2),
  (3207509287781793792, 23),
  (3208853956142825472, 4),
  (3208923087936421888, 5),
  (3209265431189651456, 1),
  (3211233797521539072, 5),
  (3213459209056157696, 5),
  (3213488809970761728, 5),
  (3569740971191042048, 6),
  (3569771207760805888, 6),
  (3575587126055534592, 7),
  (3639494401174011904, 8),
  (3639544154075168768, 8),
  (3642999163207024640, 9),
  (3645462739268141056, 9),
  (3648549996120244224, 8),
  (3711347846826426368, 10),
  (3711426547807158272, 10),
  (3711951959746412544, 10),
  (3712954370753560576, 9),
  (3713217978666319872, 10),
  (3714101041122246656, 10),
  (3715492163849551872, 10),
  (3715790440738324480, 10),
  (3718285679298347008, 10),
  (3718593834611900416, 10),
  (3718725844726710272, 10),
  (3719701231799631872, 11),
  (3722309616978100224, 9),
  (3726836014291877888, 11),
  (3785346010167902208, 12),
  (3786853595228405760, 12),
  (3787618597623300096, 12),
  (3788812426732896256, 12),
  (3789850022112133120, 12),
  (3791902415184199680, 12),
  (3792668534270590976, 9),
  (3794582010920435712, 9),
  (3799226348036161536, 9),
  (5298081990589808640, 24),
  (5298865959560282112, 1),
  (5299418378253893632, 1),
  (5308444269206306816, 1),
  (5311258452037730304, 24),
  (5317233799518486528, 13),
  (5318056474734231552, 13),
  (5319685710448427008, 13),
  (5322709487683895296, 13),
  (5322792260293623808, 13),
  (5323266132625326080, 13),
  (5324983294910005248, 13),
  (5326105672943665152, 13),
  (5326504417707425792, 13),
  (5327901347230515200, 13),
  (5328993059197681664, 13),
  (5378224396705988608, 14),
  (5382084833570717696, 14),
  (5386938765090488320, 14),
  (5388653711172042752, 14),
  (5390344639796477952, 14),
  (5393711773897457664, 14),
  (5393769292099485696, 14),
  (5393793429815689216, 14),
  (5394207103885770752, 14),
  (5395879169013841920, 15),
  (5396037756386279424, 15),
  (5396512298732879872, 14),
  (5397099558201196544, 15),
  (5400388489537650688, 15),
  (5400537473363214336, 15),
  (5403769023936593920, 15),
  (5443737405477617664, 16),
  (5444891239851753472, 17),
  (5450343425956118528, 16),
  (5452332597109587968, 16),
  (5452347938732769280, 16),
  (5454994755278602240, 17),
  (5455065776857808896, 17),
  (5455083317504245760, 17),
  (5456474508951027712, 16),
  (5456543795363446784, 16),
  (5458086238378524672, 16),
  (5458252969008955392, 16),
  (5458953787412578304, 24),
  (5459787766982246400, 24),
  (5459862894550188032, 24),
  (5460637414592610304, 18),
  (5460653752648204288, 18),
  (5460711477008662528, 1),
  (5463025124351410176, 19),
  (5463036394345594880, 19),
  (5463592987747418112, 19),
  (5464282793854894080, 17),
  (5464371476339621888, 17),
  (5464723766737108992, 19),
  (5464990844983443456, 19),
  (5465288675195617280, 20),
  (5466341285780520960, 20),
  (5466345494848471040, 20),
  (5466394062338654208, 20),
  (5466697407288836096, 20),
  (5469639562965811200, 18),
  (5469657034892771328, 18),
  (5469710825063186432, 21),
  (5469782190239776768, 21),
  (5469797823920734208, 21),
  (5469802582744498176, 21),
  (5470777093644091392, 18),
  (5470857735950041088, 21),
  (5470898280441315328, 21),
  (5471029294123712512, 1),
  (5471315287406018560, 1),
  (5472732197116968960, 17),
  (5473171022515535872, 19),
  (5473732649619030016, 19),
  (5474278522782482432, 20),
  (5475251315695157248, 20),
  (5475404439869194240, 20),
  (5475969090629664768, 20),
  (5514979780363026432, 4),
  (5519250472503869440, 22),
  (5522328280427921408, 23),
  (5523525597050961920, 23),
  (5523678291728269312, 4),
  (5525081302925049856, 4),
  (5525354428485337088, 4),
  (5525937410166226944, 5),
  (5527916118779363328, 24),
  (5528239478277144576, 22),
  (5530511928293588992, 23),
  (5531371866645594112, 23),
  (5532698719482281984, 4),
  (5533337020341944320, 1),
  (5533824550669647872, 4),
  (5534241231216836608, 1),
  (5536137974674096128, 5),
  (5540168853020999680, 23),
  (5542806787574464512, 4),
  (5542876194245967872, 5),
  (5544004653953318912, 5),
  (5545058364049850368, 5),
  (5546326581993013248, 22),
  (5546782295202988032, 22),
  (5548039140072751104, 22),
  (5880596190059298816, 7),
  (5889392661038628864, 7),
  (5902547905348108288, 6),
  (5902711612321562624, 6),
  (5906650698627416064, 7),
  (5907183412011073536, 7),
  (5908169708300926976, 7),
  (5945036127021826048, 25),
  (5954497785356091392, 25),
  (5954714114268856320, 25),
  (5964545363128877056, 25),
  (5964764921857048576, 25),
  (5965677808565878784, 26),
  (5965759412944502784, 26),
  (5966154395316912128, 26),
  (5966241462893936640, 26),
  (5968976017031692288, 26),
  (5971661591362404352, 26),
  (5972339388741320704, 25),
  (5976094444288475136, 26),
  (5977272708436590592, 26),
  (5978037487493185536, 26),
  (6021964609110409216, 27),
  (6025923246107394048, 28),
  (6027588954683867136, 28),
  (6030496870881558528, 27),
  (6033778930270339072, 11),
  (6034895965364682752, 28),
  (6034994320115761152, 28),
  (6035555861319909376, 28),
  (6035742898555715584, 28),
  (6035846475987025920, 28),
  (6037166044559179776, 29),
  (6037176902236504064, 29),
  (6037462483201949696, 29),
  (6038007961228410880, 29),
  (6038282066041241600, 29),
  (6038290484177141760, 29),
  (6038298266657882112, 29),
  (6038848744026275840, 29),
  (6039485928194441216, 27),
  (6040885932914114560, 27),
  (6041755371733778432, 30),
  (6042494037389213696, 11),
  (6042794358682419200, 30),
  (6043278109438902272, 11),
  (6044828884690534400, 28),
  (6045629861731500032, 28),
  (6048619313588338688, 27),
  (6050456992655343616, 27),
  (6050766470818824192, 30),
  (6051046159089139712, 11),
  (6051723750309625856, 30),
  (6051726086771834880, 30),
  (6051809907353583616, 30),
  (6052348891389493248, 11),
  (6052666203573321728, 11),
  (6101052154078822400, 31),
  (6101969352934817792, 31),
  (6106133770404888576, 32),
  (6106137687415062528, 32),
  (6106881421131907072, 33),
  (6107614520509726720, 33),
  (6107744846997356544, 33),
  (6109300827749351424, 31),
  (6110417278728142848, 31),
  (6110844456175403008, 31),
  (6112299900332933120, 33),
  (6112532515761684480, 33),
  (6113225190907314176, 33),
  (6116064731225653248, 33),
  (6116346704418570240, 33),
  (6117052384725172224, 33),
  (6117119953150672896, 33),
  (6118162925828964352, 31),
  (6118280917170520064, 31),
  (6119295079208189952, 31),
  (6119363609706364928, 31),
  (6119443375838986240, 31),
  (6122661405855318016, 32),
  (6123067915919949824, 32),
  (6123227654343622656, 32),
  (6123296202021666816, 32),
  (7542430207815188480, 34),
  (7602728439094706176, 35),
  (7603022816153174016, 35),
  (7603650706012110848, 35),
  (7603774401070235648, 35),
  (7608352509790257152, 36),
  (7609009227469684736, 36),
  (7612309428800323584, 35),
  (7612913095043710976, 35),
  (7613986338651504640, 37),
  (7614752165680119808, 37),
  (7615108355907911680, 37),
  (7615309222938411008, 37),
  (7616158853368905728, 36),
  (7619625974308536320, 38),
  (7619822288673701888, 36),
  (7619914922528342016, 36),
  (7620117799603535872, 35),
  (7620190882767044608, 35),
  (7620823720428306432, 35),
  (7620829647483174912, 35),
  (7622081149413621760, 35),
  (7623003467870633984, 37),
  (7623066689789231104, 37),
  (7624190545291640832, 37),
  (7624392752351936512, 37),
  (7624756707880599552, 36),
  (7624765194735976448, 36),
  (7625300708438310912, 36),
  (7627445082529988608, 38),
  (7627585304622268416, 38),
  (7628141846484484096, 36),
  (7628631627375050752, 38),
  (7629836812378177536, 35),
  (7630095403769135104, 35),
  (7633208378885406720, 37),
  (7636435943729135616, 38),
  (7636497980236759040, 38),
  (7674305099874697216, 39),
  (7674735953813962752, 39),
  (7675412033205960704, 39),
  (7675911348923924480, 39),
  (7677883907143892992, 1),
  (7679292295639728128, 40),
  (7680416219861614592, 40),
  (7681241334618783744, 41),
  (7683844806354665472, 39),
  (7684831291623079936, 39),
  (7686134625218854912, 34),
  (7686416168915042304, 34),
  (7686874819882647552, 34),
  (7687514340513021952, 34),
  (7688386390672801792, 40),
  (7689500900326375424, 40),
  (7690041963126456320, 41),
  (7691975694842068992, 41),
  (7692817474072346624, 42),
  (7693366886288850944, 39),
  (7693636077659095040, 39),
  (7693643757060620288, 39),
  (7693917501096198144, 42),
  (7694964442324271104, 1),
  (7694990332387131392, 1),
  (7697377543929724928, 40),
  (7697394637899563008, 40),
  (7697786510715650048, 24),
  (7698429381420515328, 40),
  (7699325826994536448, 41),
  (7700613492549615616, 41),
  (7701263132122939392, 39),
  (7701739031679205376, 42),
  (7701862520578899968, 42),
  (7702943598207041536, 42),
  (7705766869189263360, 24),
  (7707377378846048256, 40),
  (7707911913295839232, 41),
  (7708581584596631552, 41),
  (7709611861351596032, 41),
  (7746220255617220608, 45),
  (7746299265835597824, 43),
  (7746827117316276224, 43),
  (7746846393129500672, 43),
  (7746932429914374144, 44),
  (7747344763954659328, 45),
  (7747346670920138752, 45),
  (7747678946770026496, 43),
  (7747697415129399296, 43),
  (7747749573212241920, 44),
  (7748444447381127168, 46),
  (7749718798537588736, 46),
  (7750492717284589568, 46),
  (7750804153953157120, 47),
  (7750856157417177088, 47),
  (7751259076889149440, 48),
  (7751259712544309248, 48),
  (7751645520866574336, 48),
  (7751699482835681280, 48),
  (7751833417095839744, 47),
  (7751849016417058816, 47),
  (7752274853834522624, 48),
  (7752973937071357952, 49),
  (7753115842790817792, 49),
  (7753127353303171072, 49),
  (7754103255772168192, 49),
  (7754161289370271744, 49),
  (7754170325981462528, 49),
  (7754245127131889664, 49),
  (7755085033756426240, 50),
  (7755359860123762688, 45),
  (7755624223950766080, 44),
  (7755631989251637248, 44),
  (7756405495681777664, 45),
  (7756474816453935104, 45),
  (7756476311102554112, 45),
  (7757063450311786496, 44),
  (7757276704027967488, 24),
  (7757842059163074560, 51),
  (7757883995223752704, 51),
  (7757893770569318400, 51),
  (7758604965613928448, 46),
  (7758683855573221376, 46),
  (7759598494628708352, 46),
  (7760021944044355584, 52),
  (7760622157134036992, 52),
  (7760925175666704384, 47),
  (7760927666747736064, 47),
  (7760995458511536128, 47),
  (7760996145706303488, 47),
  (7762028913542299648, 49),
  (7762130687087345664, 49),
  (7762255498836967424, 53),
  (7762323720097497088, 53),
  (7762678707734446080, 53),
  (7763084582143918080, 49),
  (7763115952585048064, 49),
  (7763223653184962560, 49),
  (7763936686475575296, 53),
  (7764094878711021568, 53),
  (7764372900534026240, 55),
  (7764769411914792960, 54),
  (7765158312613511168, 55),
  (7765227856723968000, 55),
  (7765925703010222080, 54),
  (7765991811146842112, 54),
  (7766484873392422912, 56),
  (7766600785969807360, 56),
  (7766616368111157248, 56),
  (7767592751616491520, 56),
  (7767594830380662784, 56),
  (7767663000101584896, 56),
  (7767681004604489728, 56),
  (7767893175988912128, 51),
  (7768867978946281472, 57),
  (7768867996126150656, 57),
  (7768868133565104128, 57),
  (7768991553745321984, 52),
  (7769308694130458624, 52),
  (7769627844560289792, 52),
  (7769862126436352000, 57),
  (7769917033298264064, 57),
  (7769994188090769408, 57),
  (7770832479807602688, 52),
  (7770961242927136768, 58),
  (7770991582576115712, 58),
  (7771052124435120128, 59),
  (7771352256749764608, 59),
  (7771353047023747072, 59),
  (7771405668963057664, 50),
  (7771693363052412928, 50),
  (7771966282454269952, 50),
  (7772166737167908864, 59),
  (7772184312174084096, 59),
  (7772961117139107840, 58),
  (7773233469605281792, 55),
  (7773233486785150976, 55),
  (7773293908385071104, 55),
  (7773301261369081856, 55),
  (7773371389595090944, 55),
  (7773859349419524096, 54),
  (7774726761014624256, 55),
  (7774911307169398784, 54),
  (7774929363211911168, 54),
  (7775548130560311296, 46),
  (7775605700301946880, 46),
  (7775618035448020992, 46),
  (7775766967733977088, 51),
  (7775835859009404928, 51),
  (7776696209678270464, 46),
  (7777757032240644096, 60),
  (7777797490832572416, 60),
  (7777876690029510656, 60),
  (7778289900243124224, 60),
  (7778924833848426496, 60),
  (7779503743900319744, 60),
  (7779717976869044224, 60),
  (7780008952313413632, 58),
  (7780050441697492992, 24),
  (7780550444610224128, 58),
  (7780956971854725120, 50),
  (7781098293458632704, 58),
  (7781246349571260416, 50),
  (7781384613158453248, 58),
  (7781553147675148288, 50),
  (7781687940928765952, 58),
  (7818345967836463104, 23),
  (7819544916547076096, 44),
  (7820028512684736512, 23),
  (7821796286864031744, 5),
  (7822498359398105088, 4),
  (7824454339044311040, 61),
  (7824824462146011136, 62),
  (7825092622724104192, 63),
  (7826148428764676096, 63),
  (7826424835679977472, 64),
  (7827268435976388608, 23),
  (7827269552667885568, 23),
  (7827999387870560256, 44),
  (7828558249015115776, 44),
  (7828744444437331968, 23),
  (7830943416153276416, 4),
  (7831277530249166848, 34),
  (7831830429979115520, 62),
  (7831835240342487040, 62),
  (7832050349484539904, 61),
  (7832116199923122176, 62),
  (7832150989158219776, 62),
  (7832785252748623872, 61),
  (7832914685883056128, 61),
  (7833035374464073728, 61),
  (7833062071980785664, 61),
  (7834579363667378176, 64),
  (7834857144972214272, 64),
  (7835146316530319360, 63),
  (7835313493837348864, 63),
  (7835518879173443584, 24),
  (7835596686800977920, 24),
  (7835843802039320576, 24),
  (7836056162402304000, 24),
  (7836300906818699264, 65),
  (7836369815273996288, 65),
  (7837401895915225088, 65),
  (7838937673141059584, 66),
  (7839148916812546048, 66),
  (7839519847368097792, 66),
  (7841053700448583680, 61),
  (7841640066563702784, 61),
  (7841974077580378112, 61),
  (7842186283324538880, 61),
  (7843054519553359872, 63),
  (7843177269718679552, 63),
  (7843723245961347072, 24),
  (7845361346488041472, 65),
  (7846546018727362560, 65),
  (7847394601185837056, 23),
  (7847558857915105280, 66),
  (7847947105778794496, 66),
  (7848652373768536064, 66),
  (7848730713972015104, 66),
  (7848825186072657920, 66),
  (7850698856965603328, 61),
  (7850727925304262656, 61),
  (7852035845925109760, 63),
  (7852096679841890304, 63),
  (7852326409052618752, 64),
  (7852343245324419072, 64),
  (8107772440840503296, 67),
  (8179399009140473856, 68),
  (8182858880175308800, 68),
  (8183353145011732480, 70),
  (8185683714525626368, 68),
  (8186991995923726336, 69),
  (8187060457702424576, 69),
  (8187080626868846592, 69),
  (8187984528506093568, 68),
  (8188186426328743936, 68),
  (8188461991430455296, 68),
  (8192118778125877248, 70),
  (8192206051861331968, 70),
  (8193835442194350080, 70),
  (8194653032168816640, 71),
  (8196155944304902144, 69),
  (8196941974859677696, 72),
  (8199383955825229824, 6),
  (8200571548642312192, 6),
  (8202068155766407168, 70),
  (8203035090343690240, 70),
  (8204047396955488256, 69),
  (8204795185121460224, 7),
  (8205013232021143552, 69),
  (8206439556300406784, 72),
  (8206693869903937536, 72),
  (8206764908663013376, 72),
  (8206766283052548096, 72),
  (8210382216019050496, 70),
  (8210506512372596736, 70),
  (8211579652901175296, 70),
  (8254342237085761536, 67),
  (8259893241797672960, 67),
  (8261365161449750528, 8),
  (8261387701438119936, 8),
  (8263270649460424704, 67),
  (8264536565301116928, 67),
  (8264705323156111360, 67),
  (8266659911232913408, 71),
  (8267636260378509312, 71),
  (8267907839750569984, 71),
  (8268049590851207168, 71),
  (8269264276321992704, 8),
  (8270966337501659136, 73),
  (8271040142219673600, 73),
  (8271458901531033600, 73),
  (8272578651044708352, 73),
  (8273838416492232704, 74),
  (8274827925417623552, 74),
  (8274881406350393344, 74),
  (8279343224535908352, 8),
  (8281636359114850304, 73),
  (8282158936375689216, 74),
  (8282229184860782592, 74),
  (8284371961224626176, 75),
  (8284666355462963200, 75),
  (8284943329313947648, 75),
  (8284952846961475584, 75),
  (8285026840658051072, 75),
  (8285369699307356160, 75),
  (8285501159666352128, 75),
  (8285597160775352320, 75),
  (8286160248167727104, 75),
  (8322793261185892352, 76),
  (8323675653626920960, 76),
  (8324157497417924608, 76),
  (8325084574698700800, 77),
  (8325629932466077696, 77),
  (8325909500477308928, 78),
  (8325917300137918464, 78),
  (8326619166513561600, 77),
  (8327186256815456256, 79),
  (8327889823998148608, 83),
  (8328292124994830336, 79),
  (8328295509429059584, 79),
  (8328364280445403136, 79),
  (8328380463882174464, 79),
  (8329568503375855616, 80),
  (8329709103425257472, 80),
  (8330133635172663296, 80),
  (8330340291819077632, 80),
  (8330414474494214144, 80),
  (8330551415231479808, 81),
  (8330564935788527616, 81),
  (8332814536578957312, 76),
  (8332820532353302528, 76),
  (8332962283453939712, 76),
  (8333783103243812864, 76),
  (8333911866363346944, 82),
  (8333947823829549056, 82),
  (8333950624148226048, 82),
  (8334060712749957120, 77),
  (8334485948871999488, 77),
  (8334627871771328512, 77),
  (8334827690829807616, 78),
  (8335049654739664896, 82),
  (8335068586955505664, 82),
  (8335181750753820672, 77),
  (8336246490326368256, 79),
  (8336312546923380736, 79),
  (8336589881551618048, 83),
  (8337600968392704000, 83),
  (8337645842211012608, 83),
  (8338417355776327680, 81),
  (8338771278261387264, 81),
  (8338855030123659264, 81),
  (8339018101441953792, 81),
  (8339616407566155776, 81),
  (8339646455157358592, 81),
  (8340491928059510784, 81),
  (8341056956777103360, 84),
  (8341117790693883904, 84),
  (8341398526936219648, 84),
  (8341656259333718016, 84),
  (8341820653501939712, 84),
  (8341960600716312576, 84),
  (8342728953185697792, 84),
  (8342918309703843840, 85),
  (8343299067144568832, 77),
  (8343659277461749760, 77),
  (8343924603361427456, 78),
  (8344053125962792960, 85),
  (8344141327411183616, 85),
  (8344336954581581824, 86),
  (8344406962548506624, 86),
  (8344424314216382464, 86),
  (8344488137430401024, 86),
  (8344493033693118464, 86),
  (8344493875506708480, 86),
  (8344915847453605888, 78),
  (8345241612133072896, 87),
  (8345269391981543424, 87),
  (8345337338364166144, 79),
  (8345337853760241664, 79),
  (8346086260401504256, 87),
  (8346111635068289024, 87),
  (8346176832671842304, 83),
  (8346307245058818048, 79),
  (8346604010119102464, 83),
  (8346658504664154112, 87),
  (8346887340521684992, 83),
  (8347523373638615040, 11),
  (8347706201806471168, 11),
  (8348083884050612224, 11),
  (8348706465329971200, 11),
  (8348717546345594880, 11),
  (8348849230042890240, 11),
  (8349675547390902272, 88),
  (8349676853060960256, 88),
  (8349762563428319232, 88),
  (8349818810320027648, 88),
  (8350698058844995584, 84),
  (8350966958157463552, 88),
  (8352075368957476864, 85),
  (8352282317661667328, 77),
  (8352641875143819264, 77),
  (8352647149363658752, 77),
  (8352932266472636416, 78),
  (8353055050997694464, 85),
  (8353122258645942272, 85),
  (8353134078395940864, 85),
  (8353135916641943552, 85),
  (8354750085610864640, 83),
  (8354762678454976512, 83),
  (8355095452521070592, 87),
  (8355382803013042176, 87),
  (8356500216064507904, 89),
  (8356592231443857408, 89),
  (8356819125976170496, 90),
  (8357067856122216448, 90),
  (8357100188636020736, 90),
  (8357136678678167552, 90),
  (8357277055389270016, 90),
  (8357581654469902336, 89),
  (8357652212192641024, 89),
  (8357661592401215488, 89),
  (8357704920031297536, 89),
  (8395629721773146112, 91),
  (8395721513814196224, 67),
  (8396559187055738880, 67),
  (8396763301081513984, 91),
  (8398100925696180224, 92),
  (8398381593219039232, 92),
  (8399812865300627456, 93),
  (8400704345892454400, 93),
  (8402453325294862336, 67),
  (8402884076154912768, 67),
  (8403458089944088576, 67),
  (8404292172592971776, 67),
  (8404671212046778368, 91),
  (8405986571550982144, 92),
  (8406040258642182144, 92),
  (8406427681872150528, 92),
  (8406638530406645760, 92),
  (8409219427794419712, 93),
  (8409516364653395968, 93),
  (8410481220466507776, 71),
  (8410546160372023296, 71),
  (8410792571235729408, 71),
  (8413112661029421056, 91),
  (8413947276254248960, 91),
  (8413951416602722304, 91),
  (8414977930966335488, 92),
  (8415074086694158336, 92),
  (8417407301907906560, 93),
  (8418371814123634688, 93),
  (8418521777201741824, 93),
  (8418944745581051904, 93),
  (8419580967676542976, 94),
  (8419620739073703936, 94),
  (8420616570190954496, 94),
  (8420626311176781824, 94),
  (8421252156631285760, 94),
  (8427818783669747712, 93),
  (8428557930361520128, 94),
  (8429754765948223488, 94),
  (8429904711846461440, 94),
  (8430609567519342592, 94)) AS given(v0, v1);

-- shared: create anon_class_of_key 1;

DROP TABLE "anon_class_of_key_values";

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

CREATE TEMPORARY TABLE "temp"."main"."anon_partition_counts" AS
WITH "anon_cells" AS (
  SELECT
    "anon_keyed"."anon_sensitive_0",
    "anon_keyed"."anon_row_count",
    "anon_of_key"."anon_class"
  FROM "temp"."main"."anon_cells" AS anon_keyed
  JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = "anon_keyed"."anon_key_0"
), "anon_cells_2" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_row_count"
  FROM "anon_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_all" AS (
  SELECT
    "diagnosis"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      age % 4 <> 1
  )
), "anon_distinct" AS (
  SELECT DISTINCT
    "diagnosis"
  FROM "anon_all"
), "anon_decoded_anon_sensitive_0" AS (
  SELECT
    "diagnosis" AS value,
    CAST(DENSE_RANK() OVER (ORDER BY "diagnosis" ASC) AS UINTEGER) AS "anon_sensitive_0"
  FROM "anon_distinct"
)
SELECT
  "anon_cells"."anon_class",
  "anon_cells"."anon_row_count",
  "anon_labels_of_classes"."anon_label_0" AS "age",
  "anon_labels_of_classes"."anon_label_1" AS "sex",
  "anon_labels_of_classes"."anon_label_2" AS "zip",
  "anon_labels_of_classes"."anon_label_3" AS "admission",
  "anon_decoded_anon_sensitive_0"."value" AS "diagnosis"
FROM "anon_cells_2" AS "anon_cells"
JOIN "temp"."main"."anon_labels_of_classes" AS anon_labels_of_classes
  ON "anon_labels_of_classes"."anon_class" = "anon_cells"."anon_class"
JOIN "anon_decoded_anon_sensitive_0"
  ON "anon_decoded_anon_sensitive_0"."anon_sensitive_0" = "anon_cells"."anon_sensitive_0";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

-- shared: create anon_union_values_0 1;

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_new_cells" AS
SELECT
  "anon_counted"."anon_class",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "temp"."main"."anon_partition_counts" AS anon_counted
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_old_cells" AS
WITH "anon_counted" AS (
  SELECT
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis",
    CAST(SUM(anon_row_count) AS BIGINT) AS anon_row_count
  FROM "anon_fit"."main"."counts"
  WHERE
    FALSE
  GROUP BY
    "age",
    "sex",
    "zip",
    "admission",
    "diagnosis"
)
SELECT
  "anon_labels_of_classes"."anon_class",
  "anon_union_values_0"."anon_sensitive_0",
  "anon_counted"."anon_row_count"
FROM "anon_counted"
JOIN "temp"."main"."anon_labels_of_classes" AS anon_labels_of_classes
  ON "anon_labels_of_classes"."anon_label_0" IS NOT DISTINCT FROM "anon_counted"."age"
  AND "anon_labels_of_classes"."anon_label_1" IS NOT DISTINCT FROM "anon_counted"."sex"
  AND "anon_labels_of_classes"."anon_label_2" IS NOT DISTINCT FROM "anon_counted"."zip"
  AND "anon_labels_of_classes"."anon_label_3" IS NOT DISTINCT FROM "anon_counted"."admission"
JOIN "temp"."main"."anon_union_values_0" AS anon_union_values_0
  ON "anon_union_values_0"."value" IS NOT DISTINCT FROM "anon_counted"."diagnosis";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

-- shared: create anon_union_cells 1;

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

CREATE TEMPORARY TABLE "temp"."main"."anon_kept" AS
WITH "anon_values" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_union_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_class",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  "anon_class"
FROM "anon_judged"
WHERE
  "anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

CREATE TEMPORARY TABLE "temp"."main"."anon_published_cells" AS
SELECT
  *
FROM "temp"."main"."anon_old_cells"
UNION ALL BY NAME
SELECT
  "anon_cells"."anon_class",
  "anon_cells"."anon_sensitive_0",
  "anon_cells"."anon_row_count"
FROM "temp"."main"."anon_new_cells" AS anon_cells
INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
  ON "anon_kept_classes"."anon_class" = "anon_cells"."anon_class";

COMMIT;

WITH "anon_kept_cells" AS (
  SELECT
    "anon_cells"."anon_row_count"
  FROM "temp"."main"."anon_new_cells" AS anon_cells
  INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
    ON "anon_kept_classes"."anon_class" = "anon_cells"."anon_class"
)
SELECT
  (
    SELECT
      COALESCE(SUM(anon_row_count), 0)
    FROM "temp"."main"."anon_cells" AS anon_cells
  ) AS new_rows,
  (
    SELECT
      COALESCE(SUM(anon_row_count), 0)
    FROM "temp"."main"."anon_new_cells"
  ) AS classed_rows,
  COALESCE(SUM(anon_row_count), 0) AS kept_rows
FROM "anon_kept_cells";

WITH "anon_values" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    "anon_class",
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class"
)
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(anon_class_size), 0) AS rows
FROM "anon_classes"
WHERE
  NOT (
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2
  );

-- shared: read releases 2;

BEGIN;

INSERT INTO "anon_fit"."main"."releases" BY NAME SELECT 1 AS "number", CAST(UUID() AS TEXT) AS "release", TRUE AS "pending", '{"name":"released","file":null,"table":["memory","main","released"]}' AS "place", NULL AS "replaces", 749 AS "rows", 733 AS "released", 0 AS "unknown", '6857385720414126224606' AS "fingerprint";

INSERT INTO "anon_fit"."main"."counts" BY NAME WITH "anon_kept_counts" AS (SELECT "anon_cells"."age", "anon_cells"."sex", "anon_cells"."zip", "anon_cells"."admission", "anon_cells"."diagnosis", "anon_cells"."anon_row_count" FROM "temp"."main"."anon_partition_counts" AS anon_cells INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes ON "anon_kept_classes"."anon_class" = "anon_cells"."anon_class") SELECT 1 AS "anon_release", * FROM "anon_kept_counts";

COMMIT;

-- shared: read CHECKPOINT 1;

-- shared: read releases 2;

BEGIN;

-- shared: read taxonomy 14;

WITH "anon_values" AS (
  SELECT
    "anon_class",
    "anon_sensitive_0",
    CAST(SUM("anon_row_count") AS BIGINT) AS "anon_rows"
  FROM "temp"."main"."anon_published_cells"
  GROUP BY
    "anon_class",
    "anon_sensitive_0"
), "anon_classes" AS (
  SELECT
    CAST(SUM("anon_rows") AS BIGINT) AS "anon_class_size",
    (
      COUNT("anon_rows")
    ) AS "anon_measure_0"
  FROM "anon_values"
  GROUP BY
    "anon_class"
), "anon_judged" AS (
  SELECT
    *,
    "anon_class_size" >= 5 AND "anon_measure_0" >= 2 AS "anon_kept"
  FROM "anon_classes"
)
SELECT
  MIN("anon_class_size") FILTER(WHERE
    "anon_kept") AS "attained_0",
  MIN("anon_measure_0") FILTER(WHERE
    "anon_kept") AS "attained_1"
FROM "anon_judged";

SELECT DISTINCT
  position,
  depth,
  label
FROM "anon_fit"."main"."classes" AS anon_listed
ORDER BY
  position ASC,
  depth ASC,
  label ASC NULLS FIRST;

WITH "anon_cells" AS (
  SELECT
    "anon_cells"."anon_class",
    "anon_cells"."anon_row_count"
  FROM "temp"."main"."anon_new_cells" AS anon_cells
  INNER JOIN "temp"."main"."anon_kept" AS anon_kept_classes
    ON "anon_kept_classes"."anon_class" = "anon_cells"."anon_class"
), "anon_rows" AS (
  SELECT
    anon_class,
    CAST(SUM(anon_row_count) AS BIGINT) AS rows
  FROM "anon_cells"
  GROUP BY
    anon_class
)
SELECT
  anon_rows.rows,
  ARRAY_AGG(anon_listed.depth ORDER BY anon_listed.position ASC) AS depths,
  ARRAY_AGG(anon_listed.label ORDER BY anon_listed.position ASC) AS labels
FROM "anon_fit"."main"."classes" AS anon_listed
INNER JOIN "anon_rows"
  ON anon_rows.anon_class = anon_listed.anon_class
GROUP BY
  anon_listed.anon_class,
  anon_rows.rows
ORDER BY
  anon_listed.anon_class ASC;

-- shared: create anon_label_type_0 3;

-- shared: create anon_label_type_1 3;

-- shared: create anon_label_type_2 3;

CREATE TEMPORARY TYPE "anon_label_type_3" AS ENUM(
SELECT
  "anon_label_3" AS "label"
FROM "temp"."main"."anon_labels_of_classes"
WHERE
  NOT "anon_label_3" IS NULL
UNION
SELECT
  '*' AS "label"
ORDER BY
  "label" ASC
);

SELECT
  LIST_PRODUCT(
    [
      CAST((
        SELECT
          COUNT(*)
        FROM "temp"."main"."anon_kept"
      ) AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT(CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary") AS DOUBLE),
      CAST(APPROX_COUNT_DISTINCT("anon_source"."length_of_stay") AS DOUBLE)
    ]
  ) AS "groups"
FROM (
  SELECT
    *
  FROM visits
  WHERE
    age % 4 <> 1
) AS anon_source;

CREATE TEMPORARY TABLE "temp"."main"."anon_equal_rows" AS
WITH "anon_rows" AS (
  SELECT
    "anon_of_key"."anon_class",
    CAST(COALESCE("anon_source"."diagnosis", NULL) AS TEXT) COLLATE "binary" AS "diagnosis",
    "anon_source"."length_of_stay" AS "length_of_stay",
    1 AS "anon_row_count"
  FROM (
    SELECT
      *
    FROM visits
    WHERE
      age % 4 <> 1
  ) AS anon_source
  LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_0
    ON "anon_labels_0"."position" = 0
    AND "anon_labels_0"."depth" = 0
    AND "anon_labels_0"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."age", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_1
    ON "anon_labels_1"."position" = 1
    AND "anon_labels_1"."depth" = 0
    AND "anon_labels_1"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."sex", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_2
    ON "anon_labels_2"."position" = 2
    AND "anon_labels_2"."depth" = 0
    AND "anon_labels_2"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."zip", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_labels" AS anon_labels_3
    ON "anon_labels_3"."position" = 3
    AND "anon_labels_3"."depth" = 0
    AND "anon_labels_3"."value" IS NOT DISTINCT FROM CAST(COALESCE("anon_source"."admission", NULL) AS TEXT) COLLATE "binary"
  LEFT JOIN "temp"."main"."anon_class_of_key" AS anon_of_key
    ON "anon_of_key"."anon_key_0" = (
      "anon_labels_0"."anon_key_0" | "anon_labels_1"."anon_key_0" | "anon_labels_2"."anon_key_0" | "anon_labels_3"."anon_key_0"
    )
), "anon_kept" AS (
  SELECT
    TRUE AS "anon_is_kept",
    "anon_codes"."anon_class",
    CAST("anon_of_class"."anon_label_0" AS anon_label_type_0) AS "anon_label_0",
    CAST("anon_of_class"."anon_label_1" AS anon_label_type_1) AS "anon_label_1",
    CAST("anon_of_class"."anon_label_2" AS anon_label_type_2) AS "anon_label_2",
    CAST("anon_of_class"."anon_label_3" AS anon_label_type_3) AS "anon_label_3"
  FROM "temp"."main"."anon_kept" AS anon_codes
  LEFT JOIN "temp"."main"."anon_labels_of_classes" AS anon_of_class
    ON "anon_of_class"."anon_class" = "anon_codes"."anon_class"
), "anon_published" AS (
  SELECT
    "anon_rows"."diagnosis",
    "anon_rows"."length_of_stay",
    "anon_rows"."anon_row_count",
    "anon_kept"."anon_label_0" AS "anon_label_0",
    "anon_kept"."anon_label_1" AS "anon_label_1",
    "anon_kept"."anon_label_2" AS "anon_label_2",
    "anon_kept"."anon_label_3" AS "anon_label_3"
  FROM "anon_rows"
  JOIN "anon_kept"
    ON "anon_kept"."anon_class" IS NOT DISTINCT FROM "anon_rows"."anon_class"
)
SELECT
  "anon_label_0",
  "anon_label_1",
  "anon_label_2",
  "anon_label_3",
  "diagnosis",
  "length_of_stay",
  "anon_row_count"
FROM "anon_published"
ORDER BY
  (
    CAST(COALESCE(ENUM_CODE("anon_label_0"), 140) AS BIGINT) << 55
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_1"), 4) AS BIGINT) << 52
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_2"), 185) AS BIGINT) << 44
  ) | (
    CAST(COALESCE(ENUM_CODE("anon_label_3"), 385) AS BIGINT) << 35
  ) ASC,
  "diagnosis" ASC,
  "length_of_stay" ASC;

-- shared: create released 1;

-- shared: read released 1;

-- shared: read taxonomy 13;

-- shared: read LATERAL 1;

-- shared: read LATERAL 2;

-- shared: read released 6;

COMMIT;

DROP TABLE IF EXISTS "temp"."main"."anon_equal_rows";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_3";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_2";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_1";

DROP TYPE IF EXISTS "temp"."main"."anon_label_type_0";

DROP TABLE IF EXISTS "temp"."main"."anon_published_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_kept";

DROP TABLE IF EXISTS "temp"."main"."anon_union_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_old_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_new_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_union_values_0";

DROP TABLE IF EXISTS "temp"."main"."anon_partition_counts";

DROP TABLE IF EXISTS "temp"."main"."anon_class_of_key";

DROP TABLE IF EXISTS "temp"."main"."anon_labels_of_classes";

DROP TABLE IF EXISTS "temp"."main"."anon_cells";

DROP TABLE IF EXISTS "temp"."main"."anon_labels";

BEGIN;

UPDATE "anon_fit"."main"."releases" SET "pending" = FALSE WHERE "number" = 1;

COMMIT;

-- shared: read CHECKPOINT 1;

DETACH "anon_fit";

